/**
 * `npm run docs`: writes the generated parts of the pages. These are the tables of packages/docs/compatibility.md and
 * the programs that tests compile and run.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { withDifferences } from "../../../server/test/differences/Markdown.ts"

const root = new URL("../../../../", import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), "utf8")
const write = (path: string, text: string) => writeFileSync(new URL(path, root), text)

const embedding = "packages/testing/test/support/EmbeddingExample.ts"

/** Each page with the program that it shows. A page shows one program in TypeScript. */
const programs: ReadonlyArray<readonly [page: string, program: string]> = [
  ["README.md", embedding],
  ["packages/docs/embedding.md", embedding],
  ["packages/docs/mcp-server.md", "packages/testing/test/support/FeaturesExample.ts"],
  ["packages/docs/app-server.md", "packages/cli/test/support/ClientExample.ts"],
]

for (const [page, program] of programs) {
  const block = /```ts\n[\s\S]*?```\n/
  if (!block.test(read(page))) throw new Error(`${page} shows no program`)
  write(
    page,
    read(page).replace(block, () => `\`\`\`ts\n${read(program)}\`\`\`\n`),
  )
}

const compatibility = "packages/docs/compatibility.md"
write(compatibility, withDifferences(read(compatibility)))
