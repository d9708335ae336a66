// Data that a page carries in little room: JSON, compressed by zlib's format, as Base64. widgets/src/packed.rs writes it.

/** The JSON in a packed text. It fails where the browser cannot decompress, or the text is damaged. */
export async function unpacked(text: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(text.trim()), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}
