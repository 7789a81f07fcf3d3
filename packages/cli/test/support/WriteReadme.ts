/** `npm run docs`: writes the generated part of README.md. */
import { readFileSync, writeFileSync } from "node:fs"
import { withDifferences } from "../../../server/test/differences/Markdown.ts"

const readme = new URL("../../../../README.md", import.meta.url)

writeFileSync(readme, withDifferences(readFileSync(readme, "utf8")))
