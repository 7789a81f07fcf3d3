/** `skills/list`: the skills that a thread in each directory gets. The connection is notified of later changes of them. */
import { SkillsChanged, type SkillsList } from "@colloquy/protocol/thread/Skills"
import * as Effect from "effect/Effect"
import { noticesKey } from "../../../app/subscriptions/ConnectionNotices.ts"
import { directoriesOf } from "../Directories.ts"
import type { HostHandler } from "../HostCall.ts"
import { SkillPort } from "../ports/SkillPort.ts"

/** Handler of the method. The files are read at each call, so `forceReload` changes nothing. */
export const skillsList: HostHandler<typeof SkillsList> = Effect.fnUntraced(function* (
  { cwds },
  { connection, hold, host },
) {
  const port = yield* SkillPort
  const directories = yield* directoriesOf(cwds)
  const folders = yield* Effect.forEach(directories, port.folders)
  hold(noticesKey)
  const report = Effect.sync(() => connection.notices.put(SkillsChanged, {}, "latest"))
  yield* host.skills.add(folders.flat(), report)
  const data = yield* Effect.forEach(directories, (cwd) =>
    Effect.map(port.list(cwd), ({ errors, skills }) => ({
      cwd,
      skills: skills.map((skill) => ({ ...skill, enabled: true, pluginId: null })),
      errors,
    })),
  )
  return { data }
})
