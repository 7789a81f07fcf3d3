/** `hooks/list`: this program has no hooks, so the list of each directory is empty. */
import type { HooksList } from "@colloquy/protocol/thread/Skills"
import * as Effect from "effect/Effect"
import { directoriesOf } from "../Directories.ts"
import type { HostHandler } from "../HostCall.ts"

/** Handler of the method. */
export const hooksList: HostHandler<typeof HooksList> = ({ cwds }) =>
  Effect.map(directoriesOf(cwds), (directories) => ({
    data: directories.map((cwd) => ({ cwd, hooks: [], warnings: [], errors: [] })),
  }))
