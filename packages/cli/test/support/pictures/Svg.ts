/** Parts of the pictures on the page on architecture: files without scripts, fonts and links. Pure. */

/** A point of a picture, in its own units. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** A rectangle with a text in its middle, and a smaller one below it. */
export interface Box extends Point {
  readonly width: number
  readonly height: number
  readonly text: string
  readonly note?: string
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** A text; `anchor` is the part of it that is at the point. */
export const label = (
  { x, y }: Point,
  text: string,
  kind: "name" | "note" = "note",
  anchor: "start" | "middle" | "end" = "middle",
): string =>
  `<text class="${kind}" x="${x}" y="${y}" text-anchor="${anchor}">${escaped(text)}</text>`

/** A box with its texts. */
export const box = ({ height, note, text, width, x, y }: Box): string => {
  const middle = { x: x + width / 2, y: y + height / 2 + 5 }
  return [
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`,
    label(note === undefined ? middle : { ...middle, y: middle.y - 8 }, text, "name"),
    ...(note === undefined ? [] : [label({ ...middle, y: middle.y + 10 }, note)]),
  ].join("\n")
}

/** An arrow from one point to another. */
export const arrow = (from: Point, to: Point): string =>
  `<line x1="${from.x}" y1="${from.y}" x2="${to.x}" y2="${to.y}" marker-end="url(#tip)"/>`

/**
 * The whole file. It has a light background of its own, so that it can be read on light and dark pages. `title` is read out
 * where the picture cannot be seen.
 */
export const picture = (
  size: { readonly width: number; readonly height: number },
  title: string,
  parts: ReadonlyArray<string>,
): string => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" width="${size.width}" height="${size.height}" role="img">
<title>${escaped(title)}</title>
<style>
text{font:14px system-ui,sans-serif;fill:#1f2328}
.name{font-weight:600}
.note{font-size:12px;fill:#59636e}
rect{fill:#fff;stroke:#8c959f}
.page{fill:#f6f8fa;stroke:#d1d9e0}
line{stroke:#59636e}
.lane{stroke:#b7bfc7;stroke-dasharray:3 4}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#59636e"/></marker></defs>
<rect class="page" x="0.5" y="0.5" width="${size.width - 1}" height="${size.height - 1}" rx="8"/>
${parts.join("\n")}
</svg>
`
