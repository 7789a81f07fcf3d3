/** The directories of this machine. */
import { stat } from "node:fs/promises"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Workspaces } from "../Workspaces.ts"

/** A directory exists where the file system of this process has it. */
export const layer: Layer.Layer<Workspaces> = Layer.succeed(Workspaces, {
  exists: (cwd) =>
    Effect.promise(() =>
      stat(cwd).then(
        (found) => found.isDirectory(),
        () => false,
      ),
    ),
})
