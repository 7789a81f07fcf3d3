/** Checks that the official clients lose nothing when the streams of the server are dropped, or closed by it (polling). */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe } from "vitest"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { home } from "../test/support/Home.ts"
import { awaitGone, mark, runningWith } from "../test/support/Processes.ts"
import { type Answerer, type Connect, describeClient, type Driver } from "./Driver.ts"
import { type HttpProxy, proxyTo } from "./HttpProxy.ts"
import { listening } from "./Listening.ts"
import { asking, connected, free, textOf, threadOf, until } from "./Playing.ts"
import * as SdkV1 from "./SdkV1.ts"
import * as SdkV2 from "./SdkV2.ts"

beforeAll(buildIfMissing)

/** A client that is connected to a server through a proxy. */
const through = (connect: Connect, overrides: ReadonlyArray<string>, answer?: Answerer) =>
  Effect.gen(function* () {
    const { token, url } = yield* listening(overrides)
    const proxy = yield* proxyTo(url)
    const serve = () => Effect.succeed({ url: proxy.url, token })
    return { driver: yield* connected({ connect, serve }, [], answer), proxy }
  })

const continuing = ({ requests }: HttpProxy) =>
  requests.filter(({ lastEventId, method }) => method === "GET" && lastEventId !== undefined)

/** Waits until the client has continued a stream this many times. */
const continued = (proxy: HttpProxy, count: number) =>
  Effect.promise(() =>
    until(() => continuing(proxy).filter(({ status }) => status !== undefined).length >= count),
  )

const typesOf = ({ events }: Driver) => events.map(({ type }) => type)

/** Settings with which the model runs these commands one after another and then says that it is done. */
const running = (commands: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const script = [
      ...commands.map((line) => [
        { tool_call: { name: "shell", arguments: { command: ["bash", "-c", line] } } },
      ]),
      [{ text: "all done" }],
    ]
    const directory = yield* home()
    const path = join(directory, "script.json")
    yield* Effect.sync(() => writeFileSync(path, JSON.stringify(script)))
    return `offline.script=${JSON.stringify(path)}`
  })

const pauses = [1, 2, 3, 4].map((step) => `sleep 0.7; echo step-${step}`)

const start = (driver: Driver, args: Readonly<Record<string, unknown>>) =>
  Effect.forkChild(
    Effect.promise(() => driver.call("codex", args)),
    { startImmediately: true },
  )

const dropped = (connect: Connect) => {
  it.live("every event of a turn comes once although its stream is dropped again and again", () =>
    Effect.gen(function* () {
      const settings = [...free, yield* running(pauses)]
      const quiet = yield* through(connect, settings)
      const expected = yield* Effect.promise(() => quiet.driver.call("codex", { prompt: "go" }))
      const { driver, proxy } = yield* through(connect, settings)
      const call = yield* start(driver, { prompt: "go" })
      for (const count of [1, 2]) {
        const seen = driver.events.length
        yield* Effect.promise(() => until(() => driver.events.length > seen + 2))
        assert.isAbove(proxy.drop(), 0)
        yield* continued(proxy, count)
      }
      const result = yield* Fiber.join(call)
      assert.strictEqual(textOf(result), "all done")
      assert.strictEqual(textOf(expected), "all done")
      assert.deepStrictEqual(typesOf(driver), typesOf(quiet.driver))
      assert.strictEqual(typesOf(driver).at(-1), "task_complete")
    }),
  )

  it.live("a stream that is dropped before anything followed continues at the same place", () =>
    Effect.gen(function* () {
      const settings = [...free, yield* running(["sleep 5; echo late"])]
      const { driver, proxy } = yield* through(connect, settings)
      const call = yield* start(driver, { prompt: "go" })
      yield* Effect.promise(() => until(() => typesOf(driver).includes("exec_command_begin")))
      for (const count of [1, 2, 3]) {
        assert.isAbove(proxy.drop(), 0)
        yield* continued(proxy, count)
      }
      assert.strictEqual(textOf(yield* Fiber.join(call)), "all done")
      const types = typesOf(driver)
      assert.lengthOf(
        types.filter((type) => type === "exec_command_end"),
        1,
      )
      assert.strictEqual(types.at(-1), "task_complete")
    }),
  )

  it.live("a question is asked once and its answer counts although the stream is dropped", () =>
    Effect.gen(function* () {
      const cwd = yield* home()
      const asked: Array<string> = []
      const drops: Array<number> = []
      let proxy: HttpProxy | undefined
      const made = yield* through(connect, asking, async (message) => {
        asked.push(message)
        drops.push(proxy?.drop() ?? 0)
        // The answer is given while the client has no stream.
        return { action: "accept" }
      })
      proxy = made.proxy
      const { driver } = made
      const prompt = "run: touch done.txt && echo it is done"
      const result = yield* Effect.promise(() => driver.call("codex", { prompt, cwd }))
      assert.lengthOf(asked, 1)
      assert.isAbove(drops[0] ?? 0, 0)
      assert.isTrue(existsSync(join(cwd, "done.txt")))
      assert.strictEqual(textOf(result), "Offline model: the tool finished and said: it is done")
      assert.strictEqual(typesOf(driver).at(-1), "task_complete")
      assert.isNotEmpty(continuing(made.proxy))
    }),
  )

  it.live("a question that is asked while the client is away is asked when it is back", () =>
    Effect.gen(function* () {
      const cwd = yield* home()
      const asked: Array<string> = []
      const script = yield* running(["sleep 0.2; echo one", "touch done.txt"])
      const { driver, proxy } = yield* through(connect, [...asking, script], (message) => {
        asked.push(message)
        return Promise.resolve({ action: "accept" })
      })
      const call = yield* start(driver, { prompt: "go", cwd })
      yield* Effect.promise(() => until(() => typesOf(driver).includes("exec_command_begin")))
      assert.isAbove(proxy.drop(), 0)
      assert.lengthOf(asked, 1)
      assert.strictEqual(textOf(yield* Fiber.join(call)), "all done")
      assert.lengthOf(asked, 2)
      assert.isTrue(existsSync(join(cwd, "done.txt")))
    }),
  )

  it.live("what belongs to no request comes although its stream was dropped", () =>
    Effect.gen(function* () {
      const { driver, proxy } = yield* through(connect, free)
      const first = yield* Effect.promise(() => driver.call("codex", { prompt: "say one" }))
      const threadId = threadOf(first)
      const uri = `colloquy://conversations/${threadId}`
      yield* Effect.promise(() => driver.watch(uri))
      const reply = () => driver.call("codex-reply", { threadId, prompt: "say two" })
      yield* Effect.promise(reply)
      yield* Effect.promise(() => until(() => driver.updated.includes(uri)))
      const before = driver.updated.length
      assert.isAbove(proxy.drop(), 0)
      yield* Effect.promise(reply)
      yield* continued(proxy, 1)
      yield* Effect.promise(() => until(() => driver.updated.length > before))
    }),
  )
}

const cancelled = (connect: Connect) => {
  it.live("a call that is cancelled leaves no attempts to continue its stream", () =>
    Effect.gen(function* () {
      const { driver, proxy } = yield* through(connect, free)
      const word = mark()
      const abort = yield* Effect.sync(() => new AbortController())
      const call = driver
        .call("codex", { prompt: `run: sleep ${word}` }, { signal: abort.signal })
        .catch(() => "cancelled")
      yield* Effect.promise(() => until(() => typesOf(driver).includes("exec_command_begin")))
      abort.abort()
      assert.strictEqual(yield* Effect.promise(() => call), "cancelled")
      yield* continued(proxy, 1)
      // Longer than the client waits before it connects again.
      yield* Effect.sleep("3 seconds")
      assert.deepStrictEqual(
        continuing(proxy).map(({ status }) => status),
        [204],
      )
      assert.deepStrictEqual(driver.errors, [])
    }),
  )
}

const polling = (connect: Connect) => {
  it.live("a turn with a question goes on over streams that the server closes", () =>
    Effect.gen(function* () {
      const cwd = yield* home()
      const asked: Array<string> = []
      const script = yield* running(["sleep 2.5; echo one", "touch done.txt"])
      const settings = [...asking, script, "http.close_streams_after_ms=300"]
      const { driver, proxy } = yield* through(connect, settings, async (message) => {
        asked.push(message)
        await new Promise((resolve) => setTimeout(resolve, 600))
        return { action: "accept" }
      })
      const result = yield* Effect.promise(() => driver.call("codex", { prompt: "go", cwd }))
      assert.strictEqual(textOf(result), "all done")
      assert.lengthOf(asked, 2)
      assert.isTrue(existsSync(join(cwd, "done.txt")))
      assert.isAbove(continuing(proxy).length, 2)
      const types = typesOf(driver)
      assert.strictEqual(types.at(-1), "task_complete")
      assert.lengthOf(
        types.filter((type) => type === "exec_command_end"),
        2,
      )
      assert.deepStrictEqual(driver.errors, [])
    }),
  )
}

describeClient("@modelcontextprotocol/sdk", () => {
  dropped(SdkV1.connect)
  describe("2025-06-18", () => dropped(SdkV1.connectAt("2025-06-18")))
  cancelled(SdkV1.connect)
  polling(SdkV1.connect)
})

describeClient("@modelcontextprotocol/client", () => {
  dropped(SdkV2.connect)
  cancelled(SdkV2.connect)
  polling(SdkV2.connect)

  it.live("in the newest revision a dropped stream ends its call, and the command with it", () =>
    Effect.gen(function* () {
      const { driver, proxy } = yield* through(SdkV2.connectNewest, free)
      const word = mark()
      // The client tells nobody of the drop: it waits for its time limit.
      const call = driver
        .call("codex", { prompt: `run: sleep ${word}` }, { timeout: 8000 })
        .then(() => "answered", String)
      yield* Effect.promise(() => until(() => typesOf(driver).includes("exec_command_begin")))
      yield* Effect.promise(() =>
        until(() => process.platform !== "linux" || runningWith(word).length > 0),
      )
      assert.isAbove(proxy.drop(), 0)
      assert.deepStrictEqual(yield* Effect.promise(() => awaitGone([], word)), [])
      assert.include(yield* Effect.promise(() => call), "timed out")
      const threadId = driver.events[0]?.threadId
      const reply = yield* Effect.promise(() =>
        driver.call("codex-reply", { threadId, prompt: "say and on" }),
      )
      assert.strictEqual(textOf(reply), "and on")
    }),
  )
})
