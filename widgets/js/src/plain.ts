// Text from user code, made harmless to look at: no control characters, nothing that reorders or hides what stands
// beside it. The same rules as widgets/src/plain.rs. What is returned goes into text nodes and attributes only.

/** The maximum number of shown characters of one value or name. */
export const VALUE_LIMIT = 300;
/** The maximum number of shown characters of one line of code. */
export const CODE_LIMIT = 500;
/** The maximum number of shown lines of one file. */
export const FILE_LIMIT = 1500;

/** One line for people: bounded, every unsafe character written as its Python escape. */
export function value(text: string, limit = VALUE_LIMIT): string {
  return bounded(text, limit);
}

/** The path of a value, with an ellipsis where it is cut off: the mark and the hash of `bounded.rs` in core/values. */
export function path(text: string, limit = VALUE_LIMIT): string {
  return bounded(text.replace(/~[0-9a-f]{16}/g, "…"), limit);
}

/** One line of source: tabs become four spaces, a cut says how long the line was. */
export function code(text: string): string {
  return bounded(text.replace(/[\r\n]+$/, "").replaceAll("\t", "    "), CODE_LIMIT);
}

/** A file as a whole, or what a program printed, up to `FILE_LIMIT` lines. */
export function file(text: string): string {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const shown = lines.slice(0, FILE_LIMIT).map(code);
  if (lines.length > FILE_LIMIT) shown.push(`… (${lines.length - FILE_LIMIT} more lines)`);
  return shown.join("\n");
}

/** A sentence: as a value, but with room for several, and line breaks become spaces. */
export function sentence(text: string): string {
  return bounded(text.replace(/[\r\n]/g, " "), 4 * VALUE_LIMIT);
}

/**
 * Control characters, halves of pairs, format characters, which reorder or join text, what is drawn as nothing at all,
 * and separators of lines.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Cf}\p{Default_Ignorable_Code_Point}\u{2028}\u{2029}\u{fffe}\u{ffff}]/u;
/** At the start it would change the character before the text. */
const COMBINING = /^\p{M}/u;

function bounded(text: string, limit: number): string {
  // Most texts are short and hold nothing unsafe.
  if (text.length <= limit && !UNSAFE.test(text) && !COMBINING.test(text)) return text;
  let out = "";
  let count = 0;
  for (const character of text) {
    if (count === limit) {
      let length = 0;
      for (const _ of text) length += 1;
      return `${out}… (${length} characters)`;
    }
    out += count === 0 && COMBINING.test(character) ? escaped(character) : safe(character);
    count += 1;
  }
  return out;
}

function safe(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\r") return "\\r";
  if (character === "\t") return "\\t";
  return UNSAFE.test(character) ? escaped(character) : character;
}

function escaped(character: string): string {
  const number = character.codePointAt(0) ?? 0;
  const digits = number.toString(16);
  if (number <= 0xff) return `\\x${digits.padStart(2, "0")}`;
  if (number <= 0xffff) return `\\u${digits.padStart(4, "0")}`;
  return `\\U${digits.padStart(8, "0")}`;
}
