/**
 * Checks clients that are agents: programs that call a model themselves, which is scripted here. One run of the program
 * covers everything that its model may do with the server.
 */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Declared } from "./ClientsPage.ts"
import type { ClientName } from "./Pins.ts"
import { leftIn, type Place, place, shell } from "./Place.ts"
import type { Reach } from "./Reach.ts"
import * as ScriptedModel from "./models/ScriptedModel.ts"
import type { Finished } from "./Program.ts"

export interface Agent {
  readonly client: ClientName
  readonly wire: ScriptedModel.Wire
  /** Environment variables that direct the client to its model and stop it from sending anything elsewhere. */
  readonly variables: (modelUrl: string) => Readonly<Record<string, string>>
  /** How it reaches the server. */
  readonly reach: Reach
  /** Configures the client with its setup from the page. */
  readonly prepare: (here: Place, modelUrl: string, setup: string) => Effect.Effect<void>
  /** The shell line that shows the state of the client's servers. */
  readonly list: string
  /** The shell line that runs one prompt and exits. */
  readonly ask: string
  /** The tool names that the client's model sees. */
  readonly tools: ReadonlyArray<string>
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

/** The id of the conversation, where the model can read it in a result; without one the last conversation continues. */
const threadIn = ([first = ""]: ReadonlyArray<string>): { readonly threadId?: string } => {
  const threadId = uuid.exec(first)?.[0]
  return threadId === undefined ? {} : { threadId }
}

const unknownThread = "00000000-0000-7000-8000-000000000000"
const run = "run: touch made.txt && echo it was made"

const script: ScriptedModel.Script = [
  { tool: "codex", args: { prompt: "say the first answer" } },
  (results) => ({
    tool: "codex-reply",
    args: { prompt: "say the second answer", ...threadIn(results) },
  }),
  { tool: "codex-reply", args: { prompt: "say no", threadId: unknownThread } },
  { tool: "codex", args: { prompt: run } },
  { tool: "codex", args: { prompt: run, "approval-policy": "never" } },
  { say: "the model has finished" },
]

interface Played extends Finished {
  readonly requests: ReadonlyArray<ScriptedModel.ModelRequest>
  /** The result of each call, as the client's model read it. */
  readonly results: ReadonlyArray<string>
  readonly hasRun: ReadonlyArray<boolean>
  readonly left: ReadonlyArray<number>
}

const arrive = (agent: Agent, steps: ScriptedModel.Script) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(agent.wire, steps)
    const here = yield* place(agent.client, agent.variables(model.url))
    return { here, model }
  })

const play = (agent: Agent): Effect.Effect<Played, never, Scope.Scope> =>
  Effect.gen(function* () {
    const hasRun: Array<boolean> = []
    let made = ""
    const watched = script.map((step): ScriptedModel.Script[number] => (results) => {
      hasRun[results.length] = existsSync(made)
      return typeof step === "function" ? step(results) : step
    })
    const { here, model } = yield* arrive(agent, watched)
    made = join(here.workspace, "made.txt")
    yield* agent.prepare(here, model.url, yield* agent.reach.setup(here))
    const finished = yield* shell(agent.ask, here)
    const left = yield* leftIn(here)
    const { requests } = model
    return { ...finished, requests, results: requests.at(-1)?.results ?? [], hasRun, left }
  })

/** Runs the same client with a program that records what the client sends. */
const declaredBy = (agent: Agent): Effect.Effect<Partial<Declared>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { here, model } = yield* arrive(agent, [
      { tool: "codex", args: { prompt: "say hello" } },
      { say: "the model has finished" },
    ])
    const { declared, setup } = yield* agent.reach.recorded(here)
    yield* agent.prepare(here, model.url, setup)
    yield* shell(agent.ask, here)
    return declared()
  })

const maxPlayMs = 120_000

export const agentChecks = (agent: Agent): void => {
  let played: Played
  beforeAll(async () => {
    played = await Effect.runPromise(Effect.scoped(play(agent)))
  }, maxPlayMs)

  /** Everything that is needed to understand a failed check. */
  const seen = (): string => JSON.stringify({ ...played, requests: undefined }, undefined, 1)

  /** Some clients repeat the arguments of a call in its error. */
  const assertAnswer = (result: string | undefined, answer: string): void => {
    assert.include(result, answer, seen())
    assert.notInclude(result, `say ${answer}`, seen())
  }

  it.live("connects, and shows the server as connected", () =>
    Effect.gen(function* () {
      const here = yield* place(agent.client, agent.variables("http://127.0.0.1:9"))
      yield* agent.prepare(here, "http://127.0.0.1:9", yield* agent.reach.setup(here))
      const { code, stderr, stdout } = yield* shell(agent.list, here)
      assert.strictEqual(code, 0, stderr)
      assert.match(`${stdout}${stderr}`, /(?:codex|colloquy).*connected/is)
      assert.deepStrictEqual(yield* leftIn(here), [])
    }),
  )

  it("offers the tools to its model under the names of the page", () => {
    assert.includeMembers([...(played.requests[0]?.tools ?? [])], [...agent.tools])
  })

  it("its model calls `codex` and reads the answer, and its user sees the turn to its end", () => {
    assertAnswer(played.results[0], "the first answer")
    assert.strictEqual(played.code, 0, seen())
    assert.include(played.stdout, "the model has finished")
  })

  it("its model continues the conversation with `codex-reply`", () => {
    assertAnswer(played.results[1], "the second answer")
  })

  it("its model reads the error of a call", () => {
    assert.include(played.results[2], `not found for thread_id: ${unknownThread}`, seen())
  })

  it("a command that needs an approval does not run, and the turn continues", () => {
    assert.match(played.results[3] ?? "", /the tool finished and said: .*rejected/, seen())
    assert.isFalse(played.hasRun[4])
  })

  it("a command runs where the policy of the call asks for no approval", () => {
    assert.include(played.results[4], "it was made", seen())
    assert.isTrue(played.hasRun[5])
  })

  it("L8 no process is left behind when it has exited", () => {
    assert.deepStrictEqual(played.left, [])
  })

  it.live("declares to the server what the page says", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* declaredBy(agent), agent.reach.expected)
    }),
  )
}
