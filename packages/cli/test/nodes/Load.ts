/** What clients do with the conversations of several servers, and what they were told. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { SeededDraws } from "../crash/SeededDraws.ts"
import { awaitGone, mark } from "../support/Processes.ts"
import { follow } from "./Follower.ts"
import { ownerOf } from "./Owners.ts"
import type { ServerNode, ServerNodes } from "./ServerNodes.ts"

/** A conversation, the inputs that were acknowledged, and the server that acknowledged the last one. */
export interface Known {
  readonly id: string
  readonly inputs: Array<string>
  server: string
}

const pathOf = ({ id }: Known) => `/v1/conversations/${id}`

/** Creates a conversation whose commands run without a sandbox, which would need more of the machine. */
export const create = Effect.fnUntraced(function* (
  nodes: ServerNodes,
  approvalPolicy: string,
  first?: ServerNode,
): Effect.fn.Return<Known> {
  const settings = { approvalPolicy, sandbox: "danger-full-access", cwd: nodes.cwd }
  const { body, status, url } = yield* nodes.ask("/v1/conversations", settings, first)
  assert.strictEqual(status, 201, JSON.stringify(body))
  return { id: String(body["conversationId"]), inputs: [], server: url }
})

/** Sends input, with its text as the id of the submission, and waits for the end of its turn. */
export const say = Effect.fnUntraced(function* (
  nodes: ServerNodes,
  known: Known,
  input: string,
  { wait = true, first }: { readonly wait?: boolean; readonly first?: ServerNode } = {},
) {
  const { body, status, url } = yield* nodes.ask(
    `${pathOf(known)}/turns${wait ? "?wait=true" : ""}`,
    {
      input,
      submissionId: input.replaceAll(/[^\w-]/g, "-"),
    },
    first,
  )
  assert.isBelow(status, 300, `${input}: ${JSON.stringify(body)}`)
  known.inputs.push(input)
  known.server = url
})

/** Creates a conversation that this server has: it may be asked before it has its share of them. */
export const createOn = (
  nodes: ServerNodes,
  node: ServerNode,
  owners: () => ReadonlyMap<string, number>,
): Effect.Effect<Known> =>
  Effect.gen(function* () {
    const known = yield* create(nodes, "never", node)
    yield* say(nodes, known, "say hello")
    if (ownerOf(owners(), known.id, [node]) !== undefined) return known
    yield* Effect.sleep(200)
    return yield* createOn(nodes, node, owners)
  })

/** Creates a conversation that this server has, with a turn that runs: another one may have got it before the turn began. */
export const talkingOn = (
  nodes: ServerNodes,
  node: ServerNode,
  owners: () => ReadonlyMap<string, number>,
): Effect.Effect<Known> =>
  Effect.gen(function* () {
    const known = yield* createOn(nodes, node, owners)
    yield* say(nodes, known, `say ${"slow ".repeat(100).trim()}`, { wait: false })
    if (ownerOf(owners(), known.id, [node]) !== undefined) return known
    return yield* talkingOn(nodes, node, owners)
  })

/** Talks in these conversations, one after the other, until it is interrupted. */
export const talk = (
  nodes: ServerNodes,
  conversations: ReadonlyArray<Known>,
  draws: SeededDraws,
): Effect.Effect<never> => {
  const [first, ...others] = conversations
  if (first === undefined) return Effect.never
  let said = 0
  return Effect.forever(
    Effect.suspend(() => {
      const known = draws.pick([first, ...others])
      return Effect.uninterruptible(say(nodes, known, `say word ${++said} of ${known.id}`))
    }),
  )
}

/** Begins a command, of a conversation that was created on this server; it runs until its server is killed. */
export const startSleeper = Effect.fnUntraced(function* (nodes: ServerNodes, node: ServerNode) {
  const known = yield* create(nodes, "never", node)
  const seconds = mark()
  yield* say(nodes, known, `run: sleep ${seconds}`, { wait: false })
  return { known, seconds }
})

/** Waits until no process of a command is left. */
export const gone = (seconds: string) =>
  Effect.map(
    Effect.promise(() => awaitGone([], seconds)),
    (left) => assert.deepStrictEqual(left, [], "commands of a server that was killed"),
  )

/** The file that the command of a question makes, with a line for each time that it ran. */
const madeBy = (nodes: ServerNodes, { id }: Known) => join(nodes.cwd, `ran-${id}`)

/** Begins a turn that asks whether its command may run. */
export const ask = Effect.fnUntraced(function* (nodes: ServerNodes) {
  const known = yield* create(nodes, "untrusted")
  const { id } = known
  yield* say(nodes, known, `run: echo ran >> ran-${id}`, { wait: false })
  return known
})

/** Answers the open question of the conversation on any server, and waits until its command has run. */
export const answer = (nodes: ServerNodes, known: Known) =>
  Effect.gen(function* () {
    yield* follow(nodes, known.id, "?answers=true")
    for (;;) {
      const { body } = yield* nodes.ask(`${pathOf(known)}/questions`)
      const [question] = (body["items"] ?? []) as ReadonlyArray<{ readonly seq: number }>
      if (question !== undefined) {
        const decision = { decision: "approved" }
        yield* nodes.ask(`${pathOf(known)}/questions/${question.seq}`, decision)
      }
      if (existsSync(madeBy(nodes, known))) break
      yield* Effect.sleep(100)
    }
    // The shell creates the file before it writes to it; a turn that waited behind the command sees its line.
    yield* say(nodes, known, `say answered ${known.id}`)
    assert.strictEqual(readFileSync(madeBy(nodes, known), "utf8"), "ran\n")
  }).pipe(Effect.scoped)
