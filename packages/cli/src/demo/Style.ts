/** Styles of text: escape sequences for terminals, or none. */

/** Functions that style a text. */
export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly accent: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
}

const sgr = (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`
const same = (text: string) => text

/** Styles with escape sequences (SGR). */
export const colored: Style = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  accent: sgr(36, 39),
  good: sgr(32, 39),
  bad: sgr(31, 39),
}

/** Leaves every text as it is. */
export const plain: Style = { bold: same, dim: same, accent: same, good: same, bad: same }
