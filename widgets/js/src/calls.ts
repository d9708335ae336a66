// Calls as text, split at their arguments, so that differences between old and new can be marked.

export interface Piece {
  text: string;
  differs: boolean;
}

/** `name(first, key=second)` as its name, its arguments and the text around them. */
export function parts(call: string): { head: string; args: string[]; tail: string } {
  const open = call.indexOf("(");
  if (open < 0) return { head: call, args: [], tail: "" };
  const args: string[] = [];
  const stack: string[] = [];
  let start = open + 1;
  let quote = "";
  for (let at = open; at < call.length; at += 1) {
    const character = call[at] ?? "";
    if (quote) {
      if (character === "\\") at += 1;
      else if (character === quote) quote = "";
    } else if (character === "'" || character === '"') {
      quote = character;
    } else if ("([{".includes(character)) {
      stack.push(character);
    } else if (")]}".includes(character)) {
      stack.pop();
      if (stack.length === 0) {
        const last = call.slice(start, at);
        if (last.trim() || args.length > 0) args.push(last);
        return { head: call.slice(0, open), args, tail: call.slice(at + 1) };
      }
    } else if (character === "," && stack.length === 1) {
      args.push(call.slice(start, at));
      start = at + 1;
    }
  }
  // It was cut, or is not a call.
  return { head: call, args: [], tail: "" };
}

/** Both calls in pieces; those that the other call lacks are marked. */
export function difference(old: string, renewed: string): { old: Piece[]; new: Piece[] } {
  const [a, b] = [parts(old), parts(renewed)];
  if (a.args.length === 0 && b.args.length === 0 && a.tail === b.tail) {
    return { old: [{ text: old, differs: old !== renewed }], new: [{ text: renewed, differs: old !== renewed }] };
  }
  return { old: pieces(a, b), new: pieces(b, a) };
}

function pieces(call: ReturnType<typeof parts>, other: ReturnType<typeof parts>): Piece[] {
  const out: Piece[] = [{ text: call.head, differs: call.head !== other.head }];
  if (call.args.length > 0 || call.tail || other.args.length > 0) out.push({ text: "(", differs: false });
  call.args.forEach((arg, index) => {
    const text = arg.trim();
    if (index > 0) out.push({ text: ", ", differs: false });
    out.push({ text, differs: !hasArgument(other, text, index) });
  });
  out.push({ text: ")", differs: false });
  if (call.tail) out.push({ text: call.tail, differs: call.tail !== other.tail });
  return out.filter((piece) => piece.text !== "");
}

/** Arguments with a name are compared by name, others by position. */
function hasArgument(call: ReturnType<typeof parts>, text: string, index: number): boolean {
  if (/^[\p{L}_][\p{L}\p{N}_]*=(?!=)/u.test(text)) return call.args.some((arg) => arg.trim() === text);
  return call.args[index]?.trim() === text;
}

/** Rows with long runs of equal calls folded into one. */
export function folded<T extends { equal: boolean }>(rows: T[], keep = 2, least = 6): (T | { folded: T[] })[] {
  const out: (T | { folded: T[] })[] = [];
  for (let at = 0; at < rows.length;) {
    let end = at;
    while (end < rows.length && rows[end]?.equal) end += 1;
    const before = at === 0 ? 0 : keep;
    const after = end === rows.length ? 0 : keep;
    if (end - at >= least + before + after) {
      out.push(...rows.slice(at, at + before), { folded: rows.slice(at + before, end - after) });
      out.push(...rows.slice(end - after, end));
    } else {
      out.push(...rows.slice(at, end));
    }
    const differing = rows[end];
    if (differing) out.push(differing);
    at = end + 1;
  }
  return out;
}
