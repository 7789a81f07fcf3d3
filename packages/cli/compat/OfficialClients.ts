/** Turns of both generations of the official client, over any connection. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe } from "vitest"
import { home } from "../test/support/Home.ts"
import { awaitGone, mark, runningWith } from "../test/support/Processes.ts"
import {
  type Answerer,
  type Connect,
  describeClient,
  type Driver,
  type Progress,
  type Serve,
  type Way,
} from "./Driver.ts"
import { asking, connected, free, textOf, threadOf, until } from "./Playing.ts"
import * as SdkV1 from "./SdkV1.ts"
import * as SdkV2 from "./SdkV2.ts"

const typesOf = ({ events }: Driver) => events.map(({ type }) => type)

/** Makes a call in which the model requests one command that creates a file; the client answers its questions. */
const playCommand = (way: Way, answer: Answerer | undefined) =>
  Effect.gen(function* () {
    const cwd = yield* home()
    const asked: Array<string> = []
    const driver = yield* connected(
      way,
      asking,
      answer &&
        ((message, signal) => {
          asked.push(message)
          return answer(message, signal)
        }),
    )
    yield* Effect.promise(() => driver.tools())
    const prompt = "run: touch done.txt && echo it is done"
    const result = yield* Effect.promise(() => driver.call("codex", { prompt, cwd }))
    const types = typesOf(driver)
    return { asked, driver, hasRun: existsSync(join(cwd, "done.txt")), result, types }
  })

/** In the newest revision the server sends no requests: none gets an error response, and none is withdrawn. */
interface Kind {
  readonly stateless?: boolean
  /** Between the client and the server is a program that passes the last progress on together with the response. */
  readonly relayed?: boolean
  /** False where that program does not pass a cancellation on. Default: true. */
  readonly cancels?: boolean
}

export const approvals = (way: Way, { stateless = false }: Kind = {}) => {
  const yes: ReadonlyArray<readonly [string, Answerer]> = [
    ["accepted", async () => ({ action: "accept" })],
    ["accepted by its form", async () => ({ action: "accept", content: { decision: "approved" } })],
  ]
  for (const [kind, answer] of yes) {
    it.live(`a command that is ${kind} runs`, () =>
      Effect.gen(function* () {
        const { asked, driver, hasRun, result, types } = yield* playCommand(way, answer)
        assert.lengthOf(asked, 1)
        assert.include(
          asked[0],
          "Allow Codex to run `bash -lc 'touch done.txt && echo it is done'`",
        )
        assert.isTrue(hasRun)
        assert.strictEqual(textOf(result), "Offline model: the tool finished and said: it is done")
        assert.strictEqual(types.at(-1), "task_complete")
        assert.deepStrictEqual(driver.errors, [])
      }),
    )
  }

  const failing: Answerer = () => Promise.reject(new Error("the window is closed"))
  const no: ReadonlyArray<readonly [string, Answerer | undefined]> = [
    ["declined", async () => ({ action: "decline" })],
    ["cancelled", async () => ({ action: "cancel" })],
    ["denied by the form", async () => ({ action: "accept", content: { decision: "denied" } })],
    ["answered with an error", failing],
    ["put to a client that cannot be asked", undefined],
  ]
  for (const [kind, answer] of stateless ? no.filter(([, one]) => one !== failing) : no) {
    it.live(`a command that is ${kind} does not run, and the turn goes on`, () =>
      Effect.gen(function* () {
        const { asked, hasRun, result, types } = yield* playCommand(way, answer)
        assert.lengthOf(asked, answer === undefined ? 0 : 1)
        assert.isFalse(hasRun)
        assert.include(textOf(result), "exec command rejected")
        assert.notStrictEqual(result.isError, true)
        assert.strictEqual(types.at(-1), "task_complete")
      }),
    )
  }

  it.live("a command whose question is answered with abort does not run, and its turn stops", () =>
    Effect.gen(function* () {
      const { driver, hasRun, result, types } = yield* playCommand(way, async () => ({
        action: "accept",
        content: { decision: "abort" },
      }))
      assert.isFalse(hasRun)
      assert.isTrue(result.isError)
      assert.strictEqual(types.at(-1), "turn_aborted")
      const reply = yield* Effect.promise(() =>
        driver.call("codex-reply", { threadId: threadOf(result), prompt: "say still here" }),
      )
      assert.strictEqual(textOf(reply), "still here")
    }),
  )

  if (stateless) return
  it.live(
    "a command whose question is not answered does not run, and the question is withdrawn",
    () =>
      Effect.gen(function* () {
        const cwd = yield* home()
        const withdrawn: Array<string> = []
        const driver = yield* connected(
          way,
          [...asking, "approval_timeout_sec=1"],
          async (message, signal) => {
            await new Promise((resolve) => {
              signal.addEventListener("abort", resolve)
            })
            withdrawn.push(message)
            return { action: "accept" }
          },
        )
        // The first question of a connection: a client 1.x would miss its withdrawal if its id were 0.
        const result = yield* Effect.promise(() =>
          driver.call("codex", { prompt: "run: touch done.txt", cwd }),
        )
        assert.include(textOf(result), "exec command rejected")
        assert.strictEqual(typesOf(driver).at(-1), "task_complete")
        yield* Effect.promise(() => until(() => withdrawn.length === 1))
        // The answer to the withdrawn question arrives too late and must have no effect.
        yield* Effect.promise(() => driver.ping())
        assert.isFalse(existsSync(join(cwd, "done.txt")))
      }),
  )
}

const cancellation = (way: Way, stateless: boolean) => {
  it.live("a call that is cancelled ends its command, and the next one gets its own answer", () =>
    Effect.gen(function* () {
      const driver = yield* connected(way, free)
      const word = mark()
      const abort = new AbortController()
      const cancelled = driver
        .call("codex", { prompt: `run: sleep ${word}` }, { signal: abort.signal })
        .then(
          () => "answered",
          () => "cancelled",
        )
      yield* Effect.promise(() => until(() => typesOf(driver).includes("exec_command_begin")))
      const isSeen = process.platform === "linux"
      yield* Effect.promise(() => until(() => !isSeen || runningWith(word).length > 0))
      abort.abort()
      assert.strictEqual(yield* Effect.promise(() => cancelled), "cancelled")
      if (!stateless) {
        // In this revision the server may send nothing more for a cancelled request.
        yield* Effect.promise(() => until(() => typesOf(driver).includes("turn_aborted")))
      }
      assert.deepStrictEqual(yield* Effect.promise(() => awaitGone([], word)), [])
      const threadId = driver.events[0]?.threadId
      const reply = yield* Effect.promise(() =>
        driver.call("codex-reply", { threadId, prompt: "say and on" }),
      )
      assert.strictEqual(textOf(reply), "and on")
      assert.deepStrictEqual(driver.errors, [])
    }),
  )
}

export const calls = (
  way: Way,
  { cancels = true, relayed = false, stateless = false }: Kind = {},
) => {
  it.live("a conversation of two turns, each result as its schema says", () =>
    Effect.gen(function* () {
      const driver = yield* connected(way, free)
      // From now on the client checks structured results against the listed schemas.
      assert.includeMembers(
        [...(yield* Effect.promise(() => driver.tools()))],
        ["codex", "codex-reply"],
      )
      const first = yield* Effect.promise(() => driver.call("codex", { prompt: "say one" }))
      const threadId = threadOf(first)
      const second = yield* Effect.promise(() =>
        driver.call("codex-reply", { threadId, prompt: "say two" }),
      )
      assert.deepStrictEqual([textOf(first), textOf(second)], ["one", "two"])
      assert.strictEqual(threadOf(second), threadId)
      assert.isTrue(driver.events.every((event) => event.threadId === threadId))
      assert.deepStrictEqual(driver.errors, [])
    }),
  )

  it.live("two calls at once, of two conversations, get each its own answer", () =>
    Effect.gen(function* () {
      const driver = yield* connected(way, free)
      const both = yield* Effect.promise(() =>
        Promise.all(
          ["left", "right"].map((word) => driver.call("codex", { prompt: `say ${word}` })),
        ),
      )
      assert.deepStrictEqual(both.map(textOf), ["left", "right"])
      assert.strictEqual(new Set(both.map(threadOf)).size, 2)
    }),
  )

  it.live("two calls at once, of one conversation, get each its own answer", () =>
    Effect.gen(function* () {
      const driver = yield* connected(way, free)
      const opening = yield* Effect.promise(() => driver.call("codex", { prompt: "say hello" }))
      const threadId = threadOf(opening)
      const both = yield* Effect.promise(() =>
        Promise.all(
          ["run: sleep 0.3 && echo slow", "say fast"].map((prompt) =>
            driver.call("codex-reply", { threadId, prompt }),
          ),
        ),
      )
      assert.deepStrictEqual(both.map(textOf), [
        "Offline model: the tool finished and said: slow",
        "fast",
      ])
      assert.deepStrictEqual(driver.errors, [])
    }),
  )

  if (cancels) cancellation(way, stateless)

  it.live("progress rises with every step, and keeps a call alive that outlasts the client", () =>
    Effect.gen(function* () {
      const pause = { command: ["sleep", "0.9"] }
      const script = [
        ...[1, 2, 3].map(() => [{ tool_call: { name: "shell", arguments: pause } }]),
        [{ text: "all slept" }],
      ]
      const directory = yield* home({ "script.json": JSON.stringify(script) })
      const override = `offline.script=${JSON.stringify(join(directory, "script.json"))}`
      const driver = yield* connected(way, [...free, override])
      const steps: Array<Progress> = []
      const result = yield* Effect.promise(() =>
        driver.call(
          "codex",
          { prompt: "sleep" },
          {
            onprogress: (progress) => steps.push(progress),
            // Shorter than the call, longer than each of its steps.
            timeout: 2000,
            resetTimeoutOnProgress: true,
          },
        ),
      )
      assert.strictEqual(textOf(result), "all slept")
      const values = steps.map(({ progress }) => progress)
      assert.isAbove(values.length, 3)
      assert.deepStrictEqual(
        values,
        [...new Set(values)].toSorted((a, b) => a - b),
      )
      assert.isTrue(steps.every(({ message }) => message !== undefined && message !== ""))
      // The clients lose a notification that they read in one chunk with the response, and report an error.
      if (relayed) return
      assert.strictEqual(steps.at(-1)?.message, "message: all slept")
      assert.deepStrictEqual(driver.errors, [])
    }),
  )

  it.live("invalid arguments and an unknown tool are reported, and the connection stays open", () =>
    Effect.gen(function* () {
      const driver = yield* connected(way, free)
      const bad = yield* Effect.promise(() => driver.call("codex", { promt: "hi" }))
      assert.isTrue(bad.isError)
      assert.include(textOf(bad), "prompt")
      const unknown = yield* Effect.promise(() =>
        driver.call("codx", { prompt: "hi" }).then(
          () => "",
          (error: unknown) => String(error),
        ),
      )
      assert.include(unknown, "did you mean 'codex'?")
      yield* Effect.promise(() => driver.ping())
    }),
  )
}

/** Whole turns in one revision: a conversation, a command that is accepted and one that is declined. */
export const turns = (way: Way, revision: string) => {
  it.live("two turns of a conversation, and a command in each way it can be answered", () =>
    Effect.gen(function* () {
      const driver = yield* connected(way, free)
      assert.strictEqual(driver.revision(), revision)
      const first = yield* Effect.promise(() => driver.call("codex", { prompt: "say one" }))
      const second = yield* Effect.promise(() =>
        driver.call("codex-reply", { threadId: threadOf(first), prompt: "say two" }),
      )
      assert.deepStrictEqual([textOf(first), textOf(second)], ["one", "two"])
      const yes = yield* playCommand(way, async () => ({ action: "accept" }))
      const no = yield* playCommand(way, async () => ({ action: "decline" }))
      assert.deepStrictEqual(
        [yes, no].map(({ asked, hasRun }) => ({ asked: asked.length, hasRun })),
        [
          { asked: 1, hasRun: true },
          { asked: 1, hasRun: false },
        ],
      )
      assert.deepStrictEqual([...driver.errors, ...yes.driver.errors, ...no.driver.errors], [])
    }),
  )
}

const newest = "2026-07-28"
const earlier = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]

/** All checks of both clients. */
export const officialClientChecks = (serve: Serve): void => {
  const by = (connect: Connect): Way => ({ connect, serve })

  describeClient("@modelcontextprotocol/sdk", () => {
    describe("approvals", () => approvals(by(SdkV1.connect)))
    describe("calls", () => calls(by(SdkV1.connect)))
    describe.for(earlier)("%s", (revision) => turns(by(SdkV1.connectAt(revision)), revision))
  })

  describeClient("@modelcontextprotocol/client", () => {
    describe("approvals", () => approvals(by(SdkV2.connect)))
    describe("calls", () => calls(by(SdkV2.connect)))
    describe.for(earlier)("%s", (revision) => turns(by(SdkV2.connectAt(revision)), revision))
    describe("asking for the newest revision first", () => {
      const way = by(SdkV2.connectNewest)
      turns(way, newest)
      approvals(way, { stateless: true })
      calls(way, { stateless: true })
    })
    describe("with the newest revision alone", () => turns(by(SdkV2.connectPinned(newest)), newest))
  })
}
