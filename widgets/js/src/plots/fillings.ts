// The fillings of a verdict's bars. A pattern repeats what a color says, as in widgets/src/plot/marks.rs.

import { shape, uniqueId } from "../dom";
import type { Verdict } from "../types";
import * as words from "../words";
import type { Entry } from "./figure";

/** Pixels after which a pattern repeats. */
const STEP = 6;
/** Lines from below left to above right, with what goes on beyond the corners; and level lines. */
const LINES: Partial<Record<Verdict, string>> = {
  likely_preserving: `M0,${STEP}L${STEP},0M-1,1L1,-1M${STEP - 1},${STEP + 1}L${STEP + 1},${STEP - 1}`,
  inconclusive: `M0,${STEP / 2}H${STEP}`,
};

/** The entries of a legend for those of these verdicts that occur. */
export function verdictBoxes(occurring: Verdict[], filled: Fillings): Entry[] {
  return words.VERDICTS.filter((verdict) => occurring.includes(verdict)).map((verdict) => ({
    text: `${words.icon(verdict)} ${words.verdictName(verdict)}`,
    color: color(verdict),
    fill: filled.fill(verdict),
    shape: "box",
  }));
}

export interface Fillings {
  /** Must be part of the drawing that uses them. */
  definitions(): SVGElement;
  fill(verdict: Verdict): string;
}

export function fillings(): Fillings {
  const name = uniqueId("filling");
  return {
    definitions() {
      const made = shape("defs", {});
      for (const [verdict, lines] of Object.entries(LINES)) {
        const stroke = color(verdict as Verdict);
        const pattern = shape("pattern", {
          id: `${name}-${verdict}`,
          width: STEP,
          height: STEP,
          patternUnits: "userSpaceOnUse",
        });
        pattern.append(
          shape("rect", { width: STEP, height: STEP, fill: stroke, "fill-opacity": 0.2 }),
          shape("path", { d: lines, fill: "none", stroke, "stroke-width": 1 }),
        );
        made.append(pattern);
      }
      return made;
    },
    fill(verdict) {
      if (verdict === "identical") return "none";
      return verdict in LINES ? `url(#${name}-${verdict})` : color(verdict);
    },
  };
}

export function color(verdict: Verdict): string {
  return `var(--tcw-${words.tone(verdict).replace("tcw-", "")}-plot)`;
}
