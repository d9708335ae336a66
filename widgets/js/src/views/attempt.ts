// The view of a state, or why there is none. A state is made by the twincell that ran, which need not be the one that
// this view comes from, and is stored with a study for as long as anybody keeps it.

import { STATE_FORMAT } from "../state";

const UNKNOWN = "This was made by another version of twincell, which this view does not know. Run the cell again.";
const FAILED = "This could not be shown interactively. The text of the result has it all: print it in a cell.";

/** The view that `make` makes of the state, or a sentence for people if it cannot. */
export function attempt<S extends { format: number }, V extends object>(state: S, make: (state: S) => V): V | string {
  if (state.format !== STATE_FORMAT) return UNKNOWN;
  try {
    return make(state);
  } catch (error) {
    console.error("twincell:", error);
    return FAILED;
  }
}
