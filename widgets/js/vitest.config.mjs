// Tests of view logic. They need no browser; the few that make elements have happy-dom.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["tests/**/*.test.ts"], environment: "happy-dom", pool: "threads", maxWorkers: 1 },
});
