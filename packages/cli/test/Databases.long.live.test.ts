/** The built program with its conversations in a database: every command, a server that is killed, and copies. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { describeDatabases } from "./support/Databases.ts"
import * as Home from "./support/Home.ts"
import * as Program from "./support/Program.ts"
import * as Server from "./support/Server.ts"

beforeAll(buildIfMissing, 120_000)

interface Shown {
  readonly id: string
  readonly preview?: string
  readonly name?: string
  readonly archived: boolean
  readonly path?: string
  readonly items: ReadonlyArray<{ readonly type: string; readonly text?: string }>
}

/** A program that is run with these lines of `config.toml`. */
const programWith = Effect.fnUntraced(function* (...config: ReadonlyArray<string>) {
  const home = yield* Home.home({ "config.toml": config.join("\n") })
  const env = { HOME: home, COLLOQUY_HOME: home }
  const run = (...args: ReadonlyArray<string>) => Program.run(args, { env, cwd: home })
  const good = (...args: ReadonlyArray<string>) => {
    const { code, stderr, stdout } = run(...args)
    assert.deepStrictEqual([code, code === 0 ? "" : stderr], [0, ""], args.join(" "))
    return stdout
  }
  return {
    home,
    run,
    good,
    exec: (...args: ReadonlyArray<string>) => good("exec", "--skip-git-repo-check", ...args),
    list: (...args: ReadonlyArray<string>) =>
      JSON.parse(good("sessions", "list", "--json", ...args)) as ReadonlyArray<Shown>,
    show: (id: string, ...args: ReadonlyArray<string>) =>
      JSON.parse(good("sessions", "show", id, "--json", ...args)) as Shown,
  }
})

const storeKey = (database: string) => `conversation_store = ${JSON.stringify(database)}`

const messagesOf = ({ items }: Shown) =>
  items.flatMap(({ text = "", type }) => (type.endsWith("_message") ? [`${type} ${text}`] : []))

describeDatabases("conversations of the program", (newDatabase) => {
  it.live(
    "are begun and continued by exec, and listed, shown, named, copied, archived and deleted",
    () =>
      Effect.gen(function* () {
        const { exec, good, list, run, show } = yield* programWith(storeKey(newDatabase()))
        exec("say first")
        exec("say second")
        exec("resume", "--last", "say third")
        assert.deepStrictEqual(
          list().map(({ preview }) => preview),
          ["say second", "say first"],
        )
        const [{ id } = { id: "" }] = list("--search", "SECOND")
        const shown = show(id)
        assert.isUndefined(shown.path)
        assert.deepStrictEqual(messagesOf(shown), [
          "user_message say second",
          "agent_message second",
          "user_message say third",
          "agent_message third",
        ])
        good("sessions", "rename", id, "a name")
        assert.strictEqual(list("--search", "a NAME")[0]?.id, id)
        const copy = good("sessions", "fork", id, "--drop", "1").trim()
        assert.deepStrictEqual(messagesOf(show(copy)), messagesOf(shown).slice(0, 2))
        good("sessions", "archive", copy)
        assert.lengthOf(list(), 2)
        good("sessions", "unarchive", copy)
        good("sessions", "rm", id)
        assert.strictEqual(run("sessions", "show", id).code, 1)
        assert.lengthOf(messagesOf(show(copy)), 2)
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "L10 L11 L16 a server killed in a turn leaves what it acknowledged, and the next one goes on at once",
    () =>
      Effect.gen(function* () {
        const { home, show } = yield* programWith(
          storeKey(newDatabase()),
          "[offline]\ndelta_delay_ms = 100",
        )
        const killed = yield* Server.ready({ home, mayBreakOff: true })
        killed.call(1, "codex", { prompt: `say ${"slow ".repeat(200)}` })
        const started = yield* killed.event("agent_message_delta", 1)
        const threadId = started.params?._meta?.threadId ?? ""
        killed.child.kill("SIGKILL")
        const server = yield* Server.ready({ home })
        server.call(2, "codex-reply", { threadId, prompt: "say on" })
        assert.strictEqual(Server.textOf(yield* server.answer(2)), "on")
        const { items } = show(threadId)
        assert.deepStrictEqual(
          items.map(({ type }) => type).filter((type) => /message|interruption|error/.test(type)),
          ["user_message", "interruption", "user_message", "agent_message"],
        )
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "are copied from files and back with every item, name and archive mark",
    () =>
      Effect.gen(function* () {
        const { exec, good, home, list, run, show } = yield* programWith()
        exec("say first")
        exec("say second")
        const [second = { id: "" }, first = { id: "" }] = list()
        good("sessions", "rename", first.id, "the first")
        good("sessions", "archive", second.id)
        const [before, archived] = [show(first.id), show(second.id)]
        const database = newDatabase()
        const stored = ["-c", storeKey(database)]
        const oldestFirst = `copied ${first.id}\ncopied ${second.id}\n`
        assert.strictEqual(good("sessions", "transfer", "--to", database), oldestFirst)
        assert.lengthOf(list(...stored), 1)
        exec(...stored, "resume", first.id, "say more")
        const refused = run("sessions", "transfer", "--to", database)
        assert.deepStrictEqual([refused.code, refused.stdout], [1, `copied ${second.id}\n`])
        assert.match(
          refused.stderr,
          new RegExp(`^colloquy: ${first.id} was not copied: .+\ncolloquy: 1 of 2 conversations`),
        )
        const back = `files:${home}/back`
        const copied = JSON.parse(
          good("sessions", "transfer", "--json", "--to", back, second.id, ...stored),
        ) as unknown
        assert.deepStrictEqual(copied, [{ id: second.id, copied: true }])
        good("sessions", "transfer", "--from", database, "--to", back)
        const other = yield* programWith()
        other.good("sessions", "transfer", "--from", back)
        const [continued, unchanged] = [other.show(first.id), other.show(second.id)]
        const withoutPath = ({ path: _, ...rest }: Shown) => rest
        assert.deepStrictEqual(withoutPath(unchanged), withoutPath(archived))
        assert.strictEqual(continued.name, "the first")
        assert.deepStrictEqual(continued.items.slice(0, 2), before.items.slice(0, 2))
        assert.lengthOf(messagesOf(continued), 4)
      }).pipe(Effect.scoped),
    60_000,
  )
})
