// Whether the page around the view is dark. Jupyter and Visual Studio Code mark the body; others show it by their
// colors.

/** Sets `data-tcw-theme` on an element and keeps it up to date; `changed` is told about every change. */
export function followTheme(root: HTMLElement, signal: AbortSignal, changed: (dark: boolean) => void): void {
  const preference = matchMedia("(prefers-color-scheme: dark)");
  let shown: boolean | null = null;
  const look = () => {
    const dark = isDark(root, preference.matches);
    if (dark === shown) return;
    shown = dark;
    root.dataset.tcwTheme = dark ? "dark" : "light";
    changed(dark);
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, {
    attributes: true,
    attributeFilter: ["data-jp-theme-light", "data-jp-theme-name", "class", "style"],
  });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class", "style"] });
  preference.addEventListener("change", look, { signal });
  signal.addEventListener("abort", () => observer.disconnect());
  look();
}

function isDark(root: HTMLElement, preferred: boolean): boolean {
  const { body } = document;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (/\bvscode-(dark|high-contrast)\b/.test(body.className))
    return !body.classList.contains("vscode-high-contrast-light");
  for (let element = root.parentElement; element; element = element.parentElement) {
    const light = lightness(getComputedStyle(element).backgroundColor);
    if (light !== null) return light < 0.5;
  }
  return preferred;
}

/** Between 0 and 1; none for transparent colors. */
export function lightness(color: string): number | null {
  const found = /^rgba?\(([\d.]+)[, ]+([\d.]+)[, ]+([\d.]+)(?:[,/ ]+([\d.]+))?\)$/.exec(color);
  if (!found || (found[4] !== undefined && Number(found[4]) < 0.5)) return null;
  return (0.299 * Number(found[1]) + 0.587 * Number(found[2]) + 0.114 * Number(found[3])) / 255;
}
