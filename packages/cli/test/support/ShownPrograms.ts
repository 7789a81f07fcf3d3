/** Programs that pages show: after `<!-- program: PATH -->` the code block that follows is the file, letter for letter. */
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = new URL("../../../../", import.meta.url)
const docs = new URL("packages/docs/", root)

/** Absolute paths of the README and the pages. */
export const pages = (): ReadonlyArray<string> =>
  [
    new URL("README.md", root),
    ...readdirSync(docs, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => new URL(name, docs)),
  ].map((url) => fileURLToPath(url))

const shown = /<!-- program: (\S+) -->\n\n```ts\n[^]*?```\n/g

/** Paths of the programs of a page, from the root of the repository. */
export const programsOf = (page: string): ReadonlyArray<string> =>
  [...page.matchAll(shown)].map(([, path = ""]) => path)

/** The page with the programs as `read` gives them. */
export const withPrograms = (page: string, read: (path: string) => string): string =>
  page.replaceAll(
    shown,
    (_, path: string) => `<!-- program: ${path} -->\n\n\`\`\`ts\n${read(path)}\`\`\`\n`,
  )
