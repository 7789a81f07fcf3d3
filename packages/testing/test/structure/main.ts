/** Prints the figures of the structure; with `--all` also every place that they count, with a room's name only its places. */
import * as Fs from "node:fs"
import { read } from "../SourceTree.ts"
import { structureOf } from "./Structure.ts"

const print = (text: string) => process.stdout.write(`${text}\n`)
const args = process.argv.slice(2)
const rooms = args.filter((arg) => !arg.startsWith("--"))
const tree = read(Fs)
const all = structureOf(tree)
const wanted = (place: string) =>
  rooms.length === 0 || rooms.some((room) => place.startsWith(`packages/${room}/`))

const rows: ReadonlyArray<readonly [title: string, places: ReadonlyArray<string>]> = [
  [
    "folders with more than 20 modules",
    all.folders.filter(([, n]) => n > 20).map(([f, n]) => `${f}: ${n}`),
  ],
  ["definitions over 40 lines", all.long.map(([name, n]) => `${name} (${n})`)],
  [
    "definitions over 80 lines",
    all.long.filter(([, n]) => n > 80).map(([name, n]) => `${name} (${n})`),
  ],
  ["import circles, types included", all.circles.map((circle) => circle.join(" ↔ "))],
  ["module-level mutable state", all.mutable],
  ["Effect.serviceOption", all.optionalServices],
  [`undocumented exports of ${all.exported}`, all.undocumented],
  ["references to documents outside the repository", all.references],
  ["told, nobody, stands, heard", all.words],
]

print(`${all.modules} modules, ${all.lines} lines; files per folder, most first:`)
print(
  `  ${all.folders
    .slice(0, 12)
    .map(([folder, n]) => `${folder.slice("packages/".length)} ${n}`)
    .join(", ")}`,
)
for (const [title, places] of rows) {
  const shown = places.filter(wanted)
  print(`${String(shown.length).padStart(5)}  ${title}`)
  if (args.includes("--all") || rooms.length > 0)
    for (const place of shown) print(`         ${place}`)
}
