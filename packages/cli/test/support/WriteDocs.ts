/**
 * `npm run docs`: writes the generated parts of the pages. These are the tables of packages/docs/compatibility.md, the
 * programs that tests compile and run, the pages on configuration keys and events,
 * and the pictures.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { withDifferences } from "../../../server/test/differences/Markdown.ts"
import { packagesPicture } from "./pictures/Rooms.ts"
import { turnPicture } from "./pictures/Turn.ts"
import { configurationKeys } from "./reference/ConfigurationKeys.ts"
import { events } from "./reference/Events.ts"
import { pages, programsOf, withPrograms } from "./ShownPrograms.ts"

const root = new URL("../../../../", import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), "utf8")
const write = (path: string, text: string) => writeFileSync(new URL(path, root), text)

for (const page of pages()) {
  const text = readFileSync(page, "utf8")
  if (programsOf(text).length > 0) writeFileSync(page, withPrograms(text, read))
}

const compatibility = "packages/docs/compatibility.md"
write(compatibility, withDifferences(read(compatibility)))

write("packages/docs/configuration-keys.md", configurationKeys())
write("packages/docs/events.md", events())

write("packages/docs/pictures/packages.svg", packagesPicture())
write("packages/docs/pictures/turn.svg", turnPicture())
