/**
 * Runs one turn for `exec`: creates or resumes the conversation, submits the prompt, and gives the events to its caller. The
 * approval policy is `never`, whatever is configured: no person answers questions.
 *
 *     prompt, schema, images ──▶ conversation ──▶ submit ──▶ events ──▶ last event
 *                                                              │           ▲
 *                                                           signal ── interrupt
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { localPrincipal } from "@colloquy/protocol/Connection"
import { isTerminal } from "@colloquy/protocol/EventMsg"
import { parseConversationId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import type { InputItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import type { ConversationsView } from "@colloquy/server/ConversationsView"
import { Server } from "@colloquy/server/Server"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import type { ExecEvent } from "./ExecEvents.ts"
import { ExecFailed } from "./ExecFailed.ts"
import { ExecFold } from "./ExecFold.ts"
import type { ExecOptions } from "./ExecOptions.ts"
import { lastMessageProblem } from "./LastMessage.ts"
import { schemaOf } from "./OutputSchema.ts"
import { promptOf } from "./Prompt.ts"
import type { PromptInput } from "./StdinPrompt.ts"

/** What a run needs besides its options. */
export interface ExecRun {
  readonly options: ExecOptions
  /** True for a key that the command line sets: it replaces what a resumed conversation had. */
  readonly sets: (key: "model" | "sandbox_mode" | "model_reasoning_effort") => boolean
  /** Gets every event, in order; the last ones of a turn together. */
  readonly report: (events: ReadonlyArray<ExecEvent>) => void
  /** The conversation is there, with the settings of its turn. */
  readonly started: (facts: {
    readonly conversation: Conversation
    readonly settings: ConversationSettings
    readonly prompt: string
  }) => void
  /** Writes one line on stderr. */
  readonly write: (line: string) => void
  readonly input: PromptInput
  /** Absolute paths of files that no model may see. */
  readonly hiddenPaths: ReadonlyArray<string>
  /** Resolves when the turn is to be interrupted. */
  readonly stopped: Effect.Effect<void>
}

/** How the turn ended. */
export interface ExecResult {
  /** Why the turn failed; undefined where it completed. */
  readonly failure: string | undefined
  readonly lastMessage: string | undefined
}

type Conversations = ConversationsView["Service"]

const failed = (message: string): ExecFailed => new ExecFailed({ message })

const isInRepository = (cwd: string): boolean => {
  for (let at = resolve(cwd); ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true
    if (dirname(at) === at) return false
  }
}

/** An image that cannot be shown is an error here: a script would not notice that the model never saw it. */
const imageItem = Effect.fnUntraced(function* (run: ExecRun, cwd: string, path: string) {
  const { problemOf } = yield* Effect.promise(() => import("./Images.ts"))
  const problem = yield* problemOf(run.hiddenPaths, cwd, path)
  if (problem !== undefined) return yield* failed(`Failed to read image ${path}: ${problem}`)
  const item: InputItem = { type: "local_image", path: resolve(cwd, path) }
  return item
})

/** The newest stored conversation of this directory. */
const lastOf = Effect.fnUntraced(function* (conversations: Conversations, cwd: string) {
  const { items } = yield* conversations.list({ cwd, limit: 1, withPreview: true })
  const [newest] = items
  if (newest === undefined) return yield* failed(`there is no conversation to resume in ${cwd}`)
  return newest.id
})

const resumed = Effect.fnUntraced(function* (
  conversations: Conversations,
  which: NonNullable<ExecOptions["resume"]>,
  cwd: string,
) {
  if (which === "last") return yield* conversations.get(yield* lastOf(conversations, cwd))
  const parsed = parseConversationId(which.id)
  if ("problem" in parsed) {
    return yield* failed(`invalid conversation id \`${which.id}\`: ${parsed.problem}`)
  }
  return yield* conversations.get(parsed.id)
})

/** The settings of the turn: of a resumed conversation those that it has, where the command line sets nothing else. */
const settingsOfTurn = (
  now: ConversationSettings,
  stored: ConversationSettings,
  sets: ExecRun["sets"],
): ConversationSettings => ({
  ...stored,
  approvalPolicy: "never",
  ...(sets("model") ? { model: now.model } : {}),
  ...(sets("sandbox_mode") ? { sandboxPolicy: now.sandboxPolicy } : {}),
  ...(sets("model_reasoning_effort") && now.effort !== undefined ? { effort: now.effort } : {}),
})

type UserTurn = Extract<Op, { readonly type: "user_turn" }>

const opOf = (
  settings: ConversationSettings,
  items: ReadonlyArray<InputItem>,
  outputSchema: unknown,
): UserTurn => ({
  type: "user_turn",
  items,
  cwd: settings.cwd,
  approval_policy: settings.approvalPolicy,
  approval_questions: settings.approvalQuestions ?? null,
  sandbox_policy: settings.sandboxPolicy,
  model: settings.model,
  effort: settings.effort ?? null,
  summary: settings.summary,
  ...(outputSchema === undefined ? {} : { final_output_json_schema: outputSchema }),
})

/** The text of an error. */
const reasonOf = (error: { readonly _tag: string; readonly message?: string }): string => {
  if (error._tag === "Done") return "the conversation has ended"
  return error.message === undefined || error.message === "" ? error._tag : error.message
}

/**
 * Submits the turn and reports its events to its end. A turn whose end cannot be recorded, and one that cannot be
 * submitted, ends with `turn.failed` too: the reader knows of the thread by then.
 */
const turnOf = Effect.fnUntraced(function* (
  conversation: Conversation,
  op: UserTurn,
  usage: TokenUsage | undefined,
  { report, stopped }: ExecRun,
) {
  let fold = new ExecFold("", op.cwd, usage)
  let failure: string | undefined
  const reportAll = (events: ReadonlyArray<ExecEvent>): void => {
    for (const one of events) if (one.type === "turn.failed") failure = one.error.message
    report(events)
  }
  const followed = Effect.gen(function* () {
    const listener = yield* conversation.attach()
    const { id } = yield* conversation.submit(op, { whileRunning: "wait" })
    yield* Effect.forkScoped(Effect.andThen(stopped, conversation.cancel(id)))
    fold = new ExecFold(id, op.cwd, usage)
    while (true) {
      for (const delivery of yield* listener.take) {
        if (delivery._tag !== "Event") continue
        const { event } = delivery
        reportAll(fold.add(event))
        if (event.id === id && isTerminal(event.msg)) return
      }
    }
  })
  yield* Effect.catch(followed, (error) => Effect.sync(() => reportAll(fold.cut(reasonOf(error)))))
  return { failure, lastMessage: fold.lastMessage } satisfies ExecResult
})

/** Runs the turn. Fails where nothing was started: no event was reported then. */
export const runExec = Effect.fnUntraced(
  function* (run: ExecRun) {
    const { options, write } = run
    const server = yield* Server
    const conversations = server.conversations(localPrincipal)
    const now = yield* server.settings(localPrincipal).resolve({
      // A stored conversation has one already.
      requiresProvider: options.resume === undefined,
      approvalPolicy: "never",
    })
    if (!options.skipGitRepoCheck && !isInRepository(now.cwd)) {
      return yield* failed(
        "Not inside a trusted directory and --skip-git-repo-check was not specified.",
      )
    }
    const problem = lastMessageProblem(options.outputLastMessage)
    if (problem !== undefined) return yield* failed(problem)
    const outputSchema = yield* schemaOf(options.outputSchema)
    const images = yield* Effect.forEach(options.images, (path) => imageItem(run, now.cwd, path))
    const prompt = yield* Effect.raceFirst(
      promptOf({ argument: options.prompt, input: run.input, write }),
      Effect.andThen(run.stopped, failed("interrupted: nothing was started")),
    )
    const conversation =
      options.resume === undefined
        ? yield* conversations.create(now)
        : yield* resumed(conversations, options.resume, now.cwd)
    const state = yield* conversation.state
    const settings = settingsOfTurn(now, state.settings, run.sets)
    run.started({ conversation, settings, prompt })
    run.report([{ type: "thread.started", thread_id: conversation.id }])
    const items: ReadonlyArray<InputItem> = [...images, { type: "text", text: prompt }]
    return yield* turnOf(conversation, opOf(settings, items, outputSchema), state.usage, run)
  },
  Effect.mapError((error) => (error instanceof ExecFailed ? error : failed(reasonOf(error)))),
  Effect.scoped,
)
