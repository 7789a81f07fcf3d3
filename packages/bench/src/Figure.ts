/** Takes a figure in a separate process, which starts with an empty heap and can call its garbage collector. */
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

const entry = fileURLToPath(new URL("./peers/TakeFigure.ts", import.meta.url))

/** Runs the named figure in a process and decodes its result. A process that fails is a defect with its standard error as message. An interrupt ends the process. */
export const take = <Figure>(name: string, sizes: object) =>
  Effect.callback<Figure>((resume) => {
    const child = execFile(
      process.execPath,
      ["--expose-gc", entry, name, JSON.stringify(sizes)],
      (error, stdout) =>
        resume(
          error === null ? Effect.sync(() => JSON.parse(stdout) as Figure) : Effect.die(error),
        ),
    )
    return Effect.sync(() => {
      child.kill("SIGKILL")
    })
  })
