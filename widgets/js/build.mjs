// Builds ../dist/widget.js: one module with its style inside and the hash of its sources on top, which a test compares
// with the sources; ../dist/loader.js, the small module that finds it; and ../dist/static.css, the style of static output,
// which each output in a saved notebook holds. The same sources give the same bytes. The notices of the packages inside go
// to THIRD_PARTY.txt.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const DIST = join(HERE, "..", "dist");
const STATIC_STYLE = join(HERE, "..", "src", "html", "style.css");
/** What a notebook has to load at most, in bytes after gzip. */
const LIMIT = 450 * 1024;

function filesUnder(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesUnder(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

function hashOfSources() {
  const files = ["package-lock.json", "tsconfig.json", "build.mjs"].map((name) => join(HERE, name));
  const all = [...files, STATIC_STYLE, ...filesUnder(join(HERE, "src"))].map((file) => [
    relative(HERE, file).split(sep).join("/"),
    file,
  ]);
  const hash = createHash("sha256");
  for (const [name, file] of all.sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(name).update("\0").update(readFileSync(file)).update("\0");
  }
  return hash.digest("hex");
}

/** A style sheet, made small. */
async function small(path) {
  return (await esbuild.transform(readFileSync(path, "utf8"), { loader: "css", minify: true })).code;
}

/** Style sheets become strings. */
const styles = {
  name: "styles",
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => ({ contents: await small(path), loader: "text" }));
  },
};

/** The notices of every package that has code in the bundle. */
function notices(metafile) {
  const packages = new Set();
  for (const [input, { bytesInOutput }] of Object.entries(Object.values(metafile.outputs)[0].inputs)) {
    const match = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match && bytesInOutput > 0) packages.add(match[1]);
  }
  const notice = (name) => {
    const folder = join(HERE, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find(
      (entry) => /^licen[cs]e/i.test(entry) && statSync(join(folder, entry)).isFile(),
    );
    const text = file
      ? readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim()
      : `License: ${license}`;
    return `${name} ${version}\n\n${text}\n`;
  };
  return `Packages whose code is in widget.js, with their licenses.\n\n${[...packages]
    .sort()
    .map(notice)
    .join(`\n${"-".repeat(80)}\n\n`)}`;
}

const sources = hashOfSources();

/** One module from one file of the sources. */
function bundle(name, plugins) {
  return esbuild.build({
    absWorkingDir: HERE,
    entryPoints: [`src/${name}.ts`],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    define: { SOURCES: JSON.stringify(sources) },
    plugins,
    // Packages may be linked from elsewhere; they are named by where they are used.
    preserveSymlinks: true,
    metafile: true,
    write: false,
    logLevel: "warning",
    outfile: `${name === "index" ? "widget" : name}.js`,
    banner: {
      js: `/* twincell ${name === "index" ? "widget" : name}, built from widgets/js, sources sha256:${sources} */`,
    },
  });
}

const result = await bundle("index", [styles]);
const loader = await bundle("loader", []);
const [output] = result.outputFiles;
const compressed = gzipSync(output.contents, { level: 9 }).length;
const size = `widget.js: ${(output.contents.length / 1024).toFixed(0)} KB, ${(compressed / 1024).toFixed(1)} KB gzipped`;
if (compressed > LIMIT) {
  console.error(`${size}: more than the ${LIMIT / 1024} KB that a notebook may have to load`);
  process.exit(1);
}
mkdirSync(DIST, { recursive: true });
writeFileSync(join(DIST, "widget.js"), output.contents);
writeFileSync(join(DIST, "loader.js"), loader.outputFiles[0].contents);
writeFileSync(join(DIST, "static.css"), await small(STATIC_STYLE));
writeFileSync(join(DIST, "THIRD_PARTY.txt"), notices(result.metafile));
console.log(size);
if (process.argv.includes("--sizes")) {
  const { inputs } = Object.values(result.metafile.outputs)[0];
  const byPackage = {};
  for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? "twincell";
    byPackage[name] = (byPackage[name] ?? 0) + bytesInOutput;
  }
  for (const [name, bytes] of Object.entries(byPackage)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 20)) {
    console.log(`${(bytes / 1024).toFixed(0).padStart(6)} KB  ${name}`);
  }
}
