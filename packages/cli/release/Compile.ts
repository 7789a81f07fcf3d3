/** Compiles the sources of all packages: modules, declarations and source maps, as they are published. */
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ReleaseError } from "./ReleaseError.ts"
import { runProgram } from "./RunProgram.ts"
import { withSpecifiers } from "./Specifiers.ts"
import { root } from "./Workspace.ts"

/** The compiler writes `.ts` into declarations, where only some tools look for a `.d.ts` beside it. */
const fixDeclaration = (file: string): void => {
  const source = readFileSync(file, "utf8")
  const text = withSpecifiers(source, file, (specifier) =>
    specifier.startsWith(".") ? specifier.replace(/\.ts$/, ".js") : specifier,
  )
  if (text !== source) writeFileSync(file, text)
}

/** A map contains its source, whose path is given as it is in the package: `src` beside `dist`. */
const fixMap = (file: string, name: string): void => {
  const map = JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, unknown>>
  const path = name.replace(/^[^/]+\/src\//, "").replace(/\.js\.map$/, ".ts")
  const up = "../".repeat(path.split("/").length)
  writeFileSync(file, JSON.stringify({ ...map, sources: [`${up}src/${path}`] }))
}

/** Compiles everything anew into a folder: `core/src/Turn.js` is in it. Rejects with the messages of the compiler. */
export const compile = async (into: string): Promise<void> => {
  rmSync(into, { recursive: true, force: true })
  const { code, output } = await runProgram(
    "tsc",
    ["--project", join(import.meta.dirname, "tsconfig.build.json"), "--outDir", into],
    root,
  )
  if (code !== 0) throw new ReleaseError(`the sources do not compile\n${output}`)
  for (const name of globSync("**/*", { cwd: into })) {
    const file = join(into, name)
    if (name.endsWith(".d.ts")) fixDeclaration(file)
    if (name.endsWith(".js.map")) fixMap(file, name.replaceAll("\\", "/"))
  }
}
