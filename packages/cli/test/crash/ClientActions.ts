/**
 * The random actions of a client during one run of a server process: new conversations, messages, commands and
 * patches, with and without approvals, with short texts and texts of 200 KB. An action waits only for the response or
 * event that its next step needs.
 */
import * as Effect from "effect/Effect"
import { mark } from "../support/Processes.ts"
import type { Frame, Server } from "../support/Server.ts"
import type { SeededDraws } from "./SeededDraws.ts"
import type { Received } from "./Received.ts"

const largeChars = 200_000

/** One run of a server: its process and the records that its client keeps. */
export interface ServerRun {
  readonly server: Server
  readonly received: Received
  readonly draws: SeededDraws
  /** Number of this run, unique within the state directory. */
  readonly number: number
  /** Directory in which commands run and patches are applied. */
  readonly cwd: string
  /** The `sleep` argument of each command that must still run at the kill, by the call that started the command. */
  readonly sleepers: Map<string, string>
}

/** A message and its first characters, which are unique among all messages. */
interface Message {
  readonly start: string
  readonly text: string
}

const padding = ({ draws }: ServerRun): string => (draws.chance(0.3) ? "x".repeat(largeChars) : "")

const saying = (serverRun: ServerRun, name: string): Message => {
  const start = `say ${name} `
  return { start, text: `${start}${padding(serverRun)}.` }
}

/** Each command appends a line to a separate file, so that the test can count how often it ran. */
const running = (serverRun: ServerRun, name: string): Message => {
  const start = `run: echo ran >> ran-${name}; `
  const rest = serverRun.draws.pick([
    "echo done",
    `head -c ${largeChars} /dev/zero | tr '\\0' x`,
    "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.01; done",
  ])
  return { start, text: start + rest }
}

const patching = (serverRun: ServerRun, name: string): Message => {
  const start = `patch: *** Begin Patch\n*** Add File: patch-${name}\n`
  return { start, text: `${start}+${padding(serverRun)}.\n*** End Patch` }
}

const message = (serverRun: ServerRun, name: string): Message =>
  serverRun.draws.pick([saying, running, running, patching])(serverRun, name)

const settings = ({ cwd, draws }: ServerRun) => ({
  cwd,
  sandbox: "danger-full-access",
  policy: draws.pick(["never", "untrusted", "untrusted"]),
})

/** Resolves with the `task_started` event of the call; from then on the input counts as accepted. */
const untilBegun = (
  serverRun: ServerRun,
  call: string,
  thread: string | undefined,
  { start }: Message,
) =>
  Effect.map(serverRun.server.event("task_started", call), ({ params }) => {
    serverRun.received.of(thread ?? params?._meta?.threadId ?? "").inputs.add(start)
  })

const startConversation = (serverRun: ServerRun, name: string) =>
  Effect.suspend(() => {
    const said = message(serverRun, name)
    const { policy, ...rest } = settings(serverRun)
    const args = { ...rest, prompt: said.text, "approval-policy": policy }
    serverRun.server.call(name, "codex", args)
    return untilBegun(serverRun, name, undefined, said)
  })

const reply = (serverRun: ServerRun, name: string, thread: string) =>
  Effect.suspend(() => {
    const said = message(serverRun, name)
    serverRun.server.call(name, "codex-reply", { threadId: thread, prompt: said.text })
    return untilBegun(serverRun, name, thread, said)
  })

interface Made {
  readonly conversation_id?: string
  readonly status?: string
}

const structured = ({ result }: Frame): Made => (result?.structuredContent ?? {}) as Made

const send = Effect.fnUntraced(function* (serverRun: ServerRun, name: string, thread: string) {
  const { start, text } = message(serverRun, name)
  serverRun.server.call(name, "conversationSendMessage", {
    conversation_id: thread,
    content: [{ type: "text", text }],
    while_running: serverRun.draws.pick(["queue", "wait", "interrupt"]),
  })
  const { status } = structured(yield* serverRun.server.answer(name))
  if (status === "ok") serverRun.received.of(thread).inputs.add(start)
})

const create = Effect.fnUntraced(function* (serverRun: ServerRun, name: string) {
  const { cwd, policy, sandbox } = settings(serverRun)
  serverRun.server.call(name, "conversationCreate", { cwd, sandbox, approval_policy: policy })
  const { conversation_id: thread = "" } = structured(yield* serverRun.server.answer(name))
  // The response named the conversation, so it must exist from now on, even if it never gets a message.
  serverRun.received.of(thread)
  yield* send(serverRun, `${name}-first`, thread)
})

/** Performs one random action. Uses only the last four conversations, so that some event logs become long. */
const act = (serverRun: ServerRun, name: string): Effect.Effect<void> => {
  const [first, ...others] = [...serverRun.received.conversations.keys()].slice(-4)
  if (first === undefined || serverRun.draws.chance(0.4)) {
    return serverRun.draws.chance(0.6)
      ? startConversation(serverRun, name)
      : create(serverRun, name)
  }
  const thread = serverRun.draws.pick([first, ...others])
  return serverRun.draws.chance(0.5)
    ? reply(serverRun, name, thread)
    : send(serverRun, name, thread)
}

/**
 * Answers each question with the action that `decide` returns and never ends. A question without an action stays
 * pending until the next server run.
 */
export const answerQuestions = (
  { server }: ServerRun,
  decide: (question: Frame) => "accept" | "decline" | undefined,
): Effect.Effect<never> => {
  const answered = new Set<unknown>()
  const isNew = ({ id, method }: Frame) => method === "elicitation/create" && !answered.has(id)
  return Effect.forever(
    Effect.map(server.until(isNew), (question) => {
      answered.add(question.id)
      const action = decide(question)
      if (action !== undefined) server.send({ id: question.id, result: { action } })
    }),
  )
}

/** Starts a command that the kill will find running. Resolves after the command's first output. */
export const startSleeper = (serverRun: ServerRun): Effect.Effect<void> =>
  Effect.suspend(() => {
    const name = `${serverRun.number}-sleeper`
    const start = `run: echo ran >> ran-${name}; `
    const seconds = mark()
    serverRun.sleepers.set(name, seconds)
    serverRun.server.call(name, "codex", {
      cwd: serverRun.cwd,
      sandbox: "danger-full-access",
      "approval-policy": "never",
      prompt: `${start}echo up; sleep ${seconds}`,
    })
    return Effect.andThen(
      untilBegun(serverRun, name, undefined, { start, text: "" }),
      Effect.asVoid(serverRun.server.event("exec_command_output_delta", name)),
    )
  })

/** Runs several actions concurrently. Never ends, because some actions never end; killing the server ends the run. */
export const run = (serverRun: ServerRun): Effect.Effect<never> =>
  Effect.forEach(
    Array.from({ length: 2 + serverRun.draws.below(4) }, (_, n) => `${serverRun.number}-${n}`),
    (name) => act(serverRun, name),
    { concurrency: "unbounded", discard: true },
  ).pipe(
    Effect.andThen(Effect.never),
    Effect.raceFirst(
      answerQuestions(serverRun, () =>
        serverRun.draws.pick(["accept", "accept", "decline", undefined]),
      ),
    ),
  )
