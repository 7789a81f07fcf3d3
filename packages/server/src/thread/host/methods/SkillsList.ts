/** `skills/list`: the skills that a thread in each directory gets. */
import type { SkillsList } from "@colloquy/protocol/thread/Skills"
import * as Effect from "effect/Effect"
import { directoriesOf } from "../Directories.ts"
import type { HostHandler } from "../HostCall.ts"
import { SkillPort } from "../ports/SkillPort.ts"

/** Handler of the method. The files are read at each call, so `forceReload` changes nothing. */
export const skillsList: HostHandler<typeof SkillsList> = Effect.fnUntraced(function* ({ cwds }) {
  const port = yield* SkillPort
  const directories = yield* directoriesOf(cwds)
  const data = yield* Effect.forEach(directories, (cwd) =>
    Effect.map(port.list(cwd), ({ errors, skills }) => ({
      cwd,
      skills: skills.map((skill) => ({ ...skill, enabled: true, pluginId: null })),
      errors,
    })),
  )
  return { data }
})
