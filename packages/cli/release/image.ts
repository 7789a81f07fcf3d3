/**
 * `npm run image`: packs the program and builds the image of the Dockerfile from it. Where no Docker runs, the files that
 * the build needs are written all the same, and the exit code is 1.
 */
import { copyFileSync, mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { pack } from "./Pack.ts"
import { ReleaseError } from "./ReleaseError.ts"
import { type Outcome, runProgram } from "./RunProgram.ts"
import { stage } from "./Stage.ts"
import { releaseFolder, root } from "./Workspace.ts"

const context = join(releaseFolder, "image")

/** Writes the Dockerfile and the tarball into one folder. Resolves with the version of the program. */
const writeContext = async (): Promise<string> => {
  const [tarball] = await pack(
    (await stage()).filter(({ manifest }) => manifest.name === "colloquy"),
  )
  if (tarball === undefined)
    throw new ReleaseError("colloquy: no package of this name is published")
  rmSync(context, { recursive: true, force: true })
  mkdirSync(context, { recursive: true })
  copyFileSync(tarball.path, join(context, "colloquy.tgz"))
  copyFileSync(join(root, "packages/cli/Dockerfile"), join(context, "Dockerfile"))
  return tarball.manifest.version
}

const docker = (...args: ReadonlyArray<string>): Promise<Outcome> =>
  runProgram("docker", args, context).catch((error: unknown) => ({
    code: null,
    stdout: "",
    output: String(error),
  }))

const image = async (): Promise<number> => {
  const version = await writeContext()
  const daemon = await docker("info")
  if (daemon.code !== 0) {
    process.stderr.write(
      `image: no Docker runs here, so no image was built. To build it elsewhere: docker build --tag colloquy:${version} ${context}\n${daemon.output}\n`,
    )
    return 1
  }
  const built = await docker("build", "--tag", `colloquy:${version}`, "--tag", "colloquy", ".")
  process.stdout.write(`${built.output}\n`)
  return built.code === 0 ? 0 : 1
}

try {
  process.exitCode = await image()
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error
  process.stderr.write(`image: ${error.message}\n`)
  process.exitCode = 1
}
