// The two moves that every element makes: make a piece of a page, and find one that must be there.

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]>} properties
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/**
 * The first part of a page that a selector names.
 * @template {Element} Kind
 * @param {ParentNode} root
 * @param {string} selector
 * @param {{new (): Kind}} kind what it must be, such as HTMLDetailsElement
 * @returns {Kind}
 */
export function part(root, selector, kind) {
  const found = root.querySelector(selector);
  if (found instanceof kind) return found;
  throw new TypeError(`there is no ${kind.name} at ${selector}`);
}
