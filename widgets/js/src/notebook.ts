// The notebook around a view, where the front end lets views reach it: JupyterLab and Jupyter Notebook do.

/** The part of their widget manager that is used. */
interface Manager {
  context?: { model?: { sharedModel?: SharedNotebook } };
}

interface SharedNotebook {
  insertCell(index: number, cell: { cell_type: "code"; source: string }): unknown;
}

/** Inserts a code cell below the one that shows the element. False where the front end has no way to do so. */
export function insertBelow(element: Element, manager: unknown, source: string): boolean {
  const notebook = (manager as Manager | null | undefined)?.context?.model?.sharedModel;
  const cell = element.closest<HTMLElement>(".jp-Notebook .jp-Cell");
  if (typeof notebook?.insertCell !== "function" || !cell) return false;
  // A long notebook holds only the cells in sight, and each says which one it is.
  const said = cell.dataset["windowedListIndex"];
  const siblings = [...(cell.parentElement?.children ?? [])].filter((one) => one.classList.contains("jp-Cell"));
  const index = said === undefined ? siblings.indexOf(cell) : Number(said);
  if (!Number.isInteger(index) || index < 0) return false;
  try {
    notebook.insertCell(index + 1, { cell_type: "code", source });
    return true;
  } catch (error) {
    console.error("twincell:", error);
    return false;
  }
}
