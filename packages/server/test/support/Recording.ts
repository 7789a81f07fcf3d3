/** The recordings of the original, as copied to `test/fixtures`. */
import { read, type WireMessage } from "./Wire.ts"

declare global {
  interface ImportMeta {
    /** Vite's: the texts of the files that match, by path. */
    readonly glob: (
      pattern: string,
      options: { readonly query: "?raw"; readonly eager: true; readonly import: "default" },
    ) => Readonly<Record<string, string>>
  }
}

const files = import.meta.glob("../fixtures/v0.29.0/*.jsonl", {
  query: "?raw",
  eager: true,
  import: "default",
})

export type Entry =
  | { readonly dir: "c2s"; readonly text: string }
  | { readonly dir: "s2c"; readonly text: string; readonly message: WireMessage }
  | { readonly dir: "note"; readonly note: string }

interface Line {
  readonly dir: Entry["dir"]
  readonly msg: unknown
  readonly raw?: string
}

const entry = (line: string): Entry => {
  const { dir, msg, raw } = JSON.parse(line) as Line
  const text = raw ?? JSON.stringify(msg)
  switch (dir) {
    case "c2s":
      return { dir, text }
    case "s2c":
      return { dir, text, message: read(text) }
    case "note":
      return { dir, note: JSON.stringify(msg) }
  }
}

/** Names of all copied recordings. */
export const names: ReadonlyArray<string> = Object.keys(files).map((path) =>
  path.replace(/^.*\/(.*)\.jsonl$/, "$1"),
)

export const load = (name: string): ReadonlyArray<Entry> => {
  const text = files[`../fixtures/v0.29.0/${name}.jsonl`]
  if (text === undefined) throw new Error(`no recording ${name}`)
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map(entry)
}
