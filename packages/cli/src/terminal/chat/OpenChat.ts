/** The conversation of a chat: a new one, or a stored one to go on with. */
import type { Conversation } from "@colloquy/core/Conversation"
import { localPrincipal } from "@colloquy/protocol/Connection"
import type { Op } from "@colloquy/protocol/Op"
import { Server } from "@colloquy/server/Server"
import * as Effect from "effect/Effect"
import { idOrName, newestIn } from "../sessions/Sessions.ts"
import type { Loaded } from "../WithServices.ts"
import type { ChatOptions } from "./ChatOptions.ts"

/** True for a key that the command line sets, in whole or in part. */
const sets = ({ startup }: Loaded, key: string): boolean =>
  startup.overrides.some(({ path }) => path === key || path.startsWith(`${key}.`))

/** The settings of the command line, for a conversation that has its own. */
const overrideOf = (loaded: Loaded): Op | undefined => {
  const { approvalPolicy, approvalQuestions, effort, model, sandboxPolicy } =
    loaded.startup.settings
  const fields = {
    ...(sets(loaded, "model") ? { model } : {}),
    ...(sets(loaded, "sandbox_mode") ? { sandbox_policy: sandboxPolicy } : {}),
    ...(sets(loaded, "approval_policy")
      ? { approval_policy: approvalPolicy, approval_questions: approvalQuestions ?? null }
      : {}),
    ...(sets(loaded, "model_reasoning_effort") && effort !== undefined ? { effort } : {}),
  }
  return Object.keys(fields).length === 0 ? undefined : { type: "override_turn_context", ...fields }
}

/** Opens it. Of a new one nothing is stored before its first message. */
export const openChat = Effect.fnUntraced(function* ({ resume }: ChatOptions, loaded: Loaded) {
  const server = yield* Server
  const conversations = server.conversations(localPrincipal)
  if (resume === undefined) {
    const settings = yield* server.settings(localPrincipal).resolve({ requiresProvider: true })
    return yield* conversations.createOnSubmit(settings)
  }
  const id =
    resume === "newest" ? yield* newestIn(loaded.environment.cwd) : yield* idOrName(resume.id)
  const conversation: Conversation = yield* conversations.get(id)
  const override = overrideOf(loaded)
  if (override !== undefined) yield* conversation.submit(override)
  return conversation
})
