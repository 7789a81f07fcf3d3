/** Whether images of the command line can be shown to a model. Loaded only where there is one. */
import * as ImageFile from "@colloquy/tools/image/ImageFile"
import * as Effect from "effect/Effect"
import * as NodePlatform from "../machine/NodePlatform.ts"

/** Why the image cannot be shown; undefined if it can. */
export const problemOf = (
  hiddenPaths: ReadonlyArray<string>,
  cwd: string,
  path: string,
): Effect.Effect<string | undefined> =>
  ImageFile.make(hiddenPaths).pipe(
    Effect.flatMap((files) => files.read(cwd, path)),
    Effect.map((read) => ("problem" in read ? read.problem : undefined)),
    Effect.provide(NodePlatform.layer),
  )
