/** `npm run docs`: writes the generated part of packages/docs/compatibility.md. */
import { readFileSync, writeFileSync } from "node:fs"
import { withDifferences } from "../../../server/test/differences/Markdown.ts"

const page = new URL("../../../docs/compatibility.md", import.meta.url)

writeFileSync(page, withDifferences(readFileSync(page, "utf8")))
