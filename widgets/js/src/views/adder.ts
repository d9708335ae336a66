// A form for a value that an execution has no field for: an attribute of an object, or any input by its access path.

import { h } from "../dom";
import { button, link } from "../parts";
import * as plain from "../plain";
import * as words from "../words";

/** `holder` is the object's access path, or null for any path. `add` gets the whole path and the value as written. */
export function adder(holder: string | null, add: (path: string, literal: string) => void): HTMLElement {
  const form = h("span", { class: "tcw-adder", hidden: true });
  const of = holder === null ? "" : ` of ${plain.value(holder)}`;
  const open = link(
    holder === null ? "+ another value" : "+ attribute",
    holder && `Give ${plain.value(holder)} an attribute`,
    () => {
      form.hidden = !form.hidden;
      if (!form.hidden) name.focus();
    },
  );
  const field = (label: string, placeholder: string, size: number) =>
    h("input", {
      class: "tcw-field tcw-valuefield",
      "aria-label": label,
      placeholder,
      size,
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      onkeydown: (event: KeyboardEvent) => {
        if (event.key !== "Enter" && event.key !== "Escape") return;
        event.preventDefault();
        if (event.key === "Enter") return done();
        form.hidden = true;
        open.focus();
      },
    });
  const name =
    holder === null
      ? field("Access path of the value", "self.shop.discount", 22)
      : field(`Name of the attribute${of}`, "name", 10);
  const value = field(holder === null ? "The value" : `Value of the attribute${of}`, "value", 10);
  const done = () => {
    const path = words.attributePath(holder, name.value);
    if (path === null) return name.focus();
    const literal = value.value.trim();
    if (literal === "") return value.focus();
    add(path, literal);
  };
  form.append(
    name,
    " = ",
    value,
    " ",
    button("Add", done, { small: true, label: `Add the ${of ? `attribute${of}` : "value"}` }),
  );
  return h("span", { class: "tcw-addline" }, open, form);
}
