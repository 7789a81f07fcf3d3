/** The commands for people but the chat: conversations, login, doctor, completions, help and usage errors. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn, spawnSync } from "node:child_process"
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { widthOf } from "../../src/terminal/Width.ts"
import * as Program from "../support/Program.ts"
import { entry } from "../support/BuiltProgram.ts"
import * as Home from "../support/Home.ts"
import * as Pty from "../support/Pty.ts"

const key = "sk-very-secret"

/** A state directory with one conversation for each prompt. */
const homeWith = Effect.fnUntraced(function* (...prompts: ReadonlyArray<string>) {
  const home = yield* Home.home()
  const env = { HOME: home, COLLOQUY_HOME: home }
  const run = (args: ReadonlyArray<string>, input = "") =>
    Program.run(args, { env, cwd: home, input })
  for (const prompt of prompts) {
    const { code } = run(["exec", "--skip-git-repo-check", prompt])
    assert.strictEqual(code, 0)
  }
  return { home, env, run }
})

type Run = Effect.Success<ReturnType<typeof homeWith>>["run"]

interface Listed {
  readonly id: string
  readonly preview: string
}

const listed = (run: Run, ...args: ReadonlyArray<string>) =>
  JSON.parse(run(["sessions", "list", "--json", ...args]).stdout) as ReadonlyArray<Listed>

describe.each([80, 120])("sessions in a terminal of %i columns", (columns) => {
  it.live("lists conversations in a table that fits", () =>
    Effect.gen(function* () {
      const { env, home } = yield* homeWith("say first", `say ${"long ".repeat(60)}`)
      const pty = yield* Pty.start(["sessions", "list"], { columns, cwd: home, env })
      assert.strictEqual(yield* pty.ended, 0)
      const [titles = "", second = "", first = "", ...more] = pty.rows()
      assert.deepStrictEqual(more, [])
      assert.match(titles, /^ID +CREATED +/)
      assert.strictEqual(titles.includes("DIRECTORY"), columns === 120)
      assert.match(second, /say long long .*…$/)
      assert.match(first, /say first$/)
      for (const row of pty.rows()) assert.isAtMost(widthOf(row), columns)
    }).pipe(Effect.scoped),
  )

  it.live("goes on with a conversation, with what was said", () =>
    Effect.gen(function* () {
      const { env, home, run } = yield* homeWith("say first")
      const [{ id } = { id: "" }] = listed(run)
      const pty = yield* Pty.start(["sessions", "resume", id], { columns, cwd: home, env })
      yield* pty.shows("› say first")
      pty.type("say second\r")
      yield* pty.until((rows) => rows.includes("  second"))
      pty.type("/quit\r")
      assert.strictEqual(yield* pty.ended, 0)
      assert.include(pty.rows().at(-1) ?? "", id)
    }).pipe(Effect.scoped),
  )
})

describe("a session whose provider is not configured", () => {
  it.live("goes on and is copied with the one that the command line names", () =>
    Effect.gen(function* () {
      const { env, home, run } = yield* homeWith()
      const args = ["-c", "model_provider=gone", "-c", 'model_providers.gone.name="Gone"']
      const place = ["-c", 'model_providers.gone.base_url="http://127.0.0.1:9"']
      run(["exec", "--skip-git-repo-check", ...args, ...place, "-m", "its-model", "hello"])
      const [{ id } = { id: "" }] = listed(run)
      assert.include(run(["sessions", "fork", id]).stderr, "provider `gone` is not configured")
      const named = ["-c", "model_provider=offline"]
      const { stdout: copy } = run(["sessions", "fork", id, ...named])
      for (const one of [id, copy.trim()]) {
        const words = ["sessions", "resume", one, ...(one === id ? named : [])]
        const pty = yield* Pty.start(words, { columns: 80, cwd: home, env })
        yield* pty.shows("offline of offline, built in")
        pty.type("say second\r")
        yield* pty.until((rows) => rows.includes("  second"))
        pty.type("/quit\r")
        assert.strictEqual(yield* pty.ended, 0)
      }
    }).pipe(Effect.scoped),
  )

  it.live("has that one from then on, once it has worked", () =>
    Effect.gen(function* () {
      const { run } = yield* homeWith()
      const gone = ["-c", 'model_providers.gone={name="Gone",base_url="http://127.0.0.1:9"}']
      run(["exec", "--skip-git-repo-check", "-c", "model_provider=gone", ...gone, "hello"])
      const [{ id } = { id: "" }] = listed(run)
      const resume = (input: string, ...args: ReadonlyArray<string>) =>
        run(["sessions", "resume", id, ...args], input)
      const named = ["-c", "model_provider=offline"]
      resume("", ...named)
      assert.include(resume("say no\n").stderr, "provider `gone` is not configured")
      assert.strictEqual(resume("say one\n", ...named).code, 0)
      const { code, stdout } = resume("say two\n")
      assert.strictEqual(code, 0)
      assert.include(stdout, "\n  two\n")
      assert.strictEqual(run(["exec", "--skip-git-repo-check", "resume", id, "say three"]).code, 0)
      assert.strictEqual(run(["sessions", "fork", id]).code, 0)
      assert.match(run(["sessions", "show", id]).stdout, /^model +\S+ of gone, at its creation$/m)
    }).pipe(Effect.scoped),
  )
})

describe.each([80, 120])("one session in a terminal of %i columns", (columns) => {
  it.live("is shown with its name and its items in rows that fit", () =>
    Effect.gen(function* () {
      const { env, home, run } = yield* homeWith(`say ${"wide ".repeat(50).trim()}`)
      const [{ id } = { id: "" }] = listed(run)
      run(["sessions", "rename", id, "日本 \u001b[2J name"])
      const pty = yield* Pty.start(["sessions", "show", id], { columns, cwd: home, env })
      assert.strictEqual(yield* pty.ended, 0)
      const rows = pty.rows()
      for (const row of rows) assert.isAtMost(widthOf(row), columns)
      assert.strictEqual(rows[0], `id         ${id}`)
      assert.strictEqual(rows[1], "name       日本 \\x1b[2J name")
      const said = rows.slice(rows.findIndex((row) => row.startsWith("› say wide")))
      const answer = said.slice(said.indexOf("") + 1).map((row) => row.trim())
      assert.strictEqual(answer.join(" "), "wide ".repeat(50).trim())
    }).pipe(Effect.scoped),
  )

  it.live("is searched, forked, archived and removed, with what is left on the screen", () =>
    Effect.gen(function* () {
      const { env, home, run } = yield* homeWith("say first", "say second")
      const [{ id } = { id: "" }] = listed(run, "--search", "first")
      const on = (...args: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const pty = yield* Pty.start(["sessions", ...args], { columns, cwd: home, env })
          yield* pty.ended
          return pty.rows()
        })
      const found = yield* on("list", "--search", "FIRST")
      assert.lengthOf(found, 2)
      assert.match(found[1] ?? "", /say first$/)
      const [copy = ""] = yield* on("fork", id)
      assert.match(copy, /^[\da-f-]{36}$/)
      assert.deepStrictEqual(yield* on("archive", copy), [`archived ${copy}`])
      assert.lengthOf(yield* on("list"), 3)
      assert.deepStrictEqual(yield* on("rm", id), [`removed ${id}`])
      assert.lengthOf(yield* on("list"), 2)
    }).pipe(Effect.scoped),
  )
})

describe("sessions resume", () => {
  it.live("finds a conversation by its name, and lists the ids where several have it", () =>
    Effect.gen(function* () {
      const { run } = yield* homeWith("say first", "say second")
      const [{ id: second } = { id: "" }, { id: first } = { id: "" }] = listed(run)
      const resume = (name: string) => run(["sessions", "resume", name], "say again\n")
      run(["sessions", "rename", first, "my work"])
      const found = resume(" my  work ")
      assert.strictEqual(found.code, 0)
      assert.include(found.stdout, "› say first")
      assert.include(found.stdout, `colloquy sessions resume ${first}`)
      // A part of a name, or the first message, is no name.
      for (const unknown of ["my", "say second"]) {
        const { code, stderr } = resume(unknown)
        assert.strictEqual(code, 1)
        assert.include(stderr, `no conversation has the id or the name \`${unknown}\``)
      }
      run(["sessions", "rename", second, "my work"])
      const { code, stderr } = resume("my work")
      assert.strictEqual(code, 1)
      assert.include(stderr, "2 conversations have the name `my work`:")
      for (const id of [first, second]) assert.include(stderr, id)
      run(["sessions", "archive", second])
      assert.strictEqual(resume("my work").code, 0)
    }).pipe(Effect.scoped),
  )
})

/** The files of a directory, with their content. */
const contentOf = (folder: string): ReadonlyArray<readonly [path: string, content: string]> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
    .toSorted()
    .map((path) => [path, readFileSync(path, "utf8")])

/** For a test that starts the program dozens of times, on a machine that does other work too. */
const startsManyMs = 120_000

describe("sessions", () => {
  it.live(
    "finds, shows, copies, archives and deletes conversations",
    () =>
      Effect.gen(function* () {
        const { run } = yield* homeWith("say first", "say second")
        assert.deepStrictEqual(
          listed(run).map(({ preview }) => preview),
          ["say second", "say first"],
        )
        const found = listed(run, "--search", "FIRST")
        assert.lengthOf(found, 1)
        const { id = "" } = found[0] ?? {}
        assert.include(run(["sessions", "show", id]).stdout, "› say first\n\n  first\n")
        assert.strictEqual(
          run(["sessions", "rename", id, " my  name "]).stdout,
          `named ${id} my name\n`,
        )
        assert.deepStrictEqual(
          listed(run, "--search", "MY NAME").map((one) => one.id),
          [id],
        )
        assert.strictEqual(run(["sessions", "rename", id, " "]).code, 2)
        const copy = run(["sessions", "fork", id]).stdout.trim()
        assert.lengthOf(listed(run), 3)
        assert.strictEqual(run(["sessions", "archive", copy]).stdout, `archived ${copy}\n`)
        assert.deepStrictEqual(
          listed(run, "--archived").map((one) => one.id),
          [copy],
        )
        assert.include(run(["sessions", "show", copy]).stdout, "› say first")
        run(["sessions", "unarchive", copy])
        assert.lengthOf(listed(run), 3)
        assert.strictEqual(
          run(["sessions", "rm", copy, id]).stdout,
          `removed ${copy}\nremoved ${id}\n`,
        )
        assert.lengthOf(listed(run), 1)
        const gone = run(["sessions", "show", id])
        assert.strictEqual(gone.code, 1)
        assert.match(gone.stderr, /^colloquy: .*no/)
      }).pipe(Effect.scoped),
    startsManyMs,
  )

  it.live(
    "are only read by show: also where the log has a torn end, or the provider is missing",
    () =>
      Effect.gen(function* () {
        const { home, run } = yield* homeWith()
        const provider = ["name=x", "base_url=http://127.0.0.1:9/v1", "request_max_retries=0"]
        const turn = run([
          "exec",
          "--skip-git-repo-check",
          "-c",
          "model_provider=gone",
          ...provider.flatMap((line) => ["-c", `model_providers.gone.${line}`]),
          "hello there",
        ])
        assert.strictEqual(turn.code, 1)
        const [{ id } = { id: "" }] = listed(run)
        const { path } = JSON.parse(run(["sessions", "show", "--json", id]).stdout) as {
          readonly path: string
        }
        appendFileSync(path, '{"timestamp":')
        const before = contentOf(home)
        const { code, stderr, stdout } = run(["sessions", "show", id])
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.include(stdout, "› hello there")
        assert.include(stdout, `\nfile       ${path}\n`)
        assert.deepStrictEqual(contentOf(home), before)
      }).pipe(Effect.scoped),
  )

  it.live("does the rest where one of several is unknown, and reports each", () =>
    Effect.gen(function* () {
      const { run } = yield* homeWith("say first", "say second")
      const [second = "", first = ""] = listed(run).map(({ id }) => id)
      const [none, other] = [0, 1].map((n) => `00000000-0000-4000-8000-00000000000${n}`)
      for (const [command, done] of [
        ["archive", "archived"],
        ["unarchive", "unarchived"],
        ["rm", "removed"],
      ] as const) {
        const { code, stderr, stdout } = run([
          "sessions",
          command,
          first,
          `${none}`,
          second,
          `${other}`,
          first,
        ])
        assert.strictEqual(stdout, `${done} ${first}\n${done} ${second}\n`)
        assert.deepStrictEqual(stderr.trimEnd().split("\n"), [
          ...[none, other].map(
            (id) => `colloquy: ${id} was not ${done}: no conversation with id: ${id}`,
          ),
          `colloquy: 2 of 4 conversations were not ${done}`,
        ])
        assert.strictEqual(code, 1)
      }
    }).pipe(Effect.scoped),
  )

  it.live("says that an id is none, and changes nothing", () =>
    Effect.gen(function* () {
      const { run } = yield* homeWith("say first")
      const [{ id } = { id: "" }] = listed(run)
      const { code, stderr } = run(["sessions", "rm", id, "nonsense"])
      assert.strictEqual(code, 1)
      assert.include(stderr, "invalid conversation id `nonsense`")
      assert.lengthOf(listed(run), 1)
    }).pipe(Effect.scoped),
  )
})

describe("login", () => {
  it.live("stores a key from stdin, reports it without quoting it, and deletes it", () =>
    Effect.gen(function* () {
      const home = yield* Home.home({ "config.toml": 'model_provider = "openai"\n' })
      const run = (args: ReadonlyArray<string>, input = "") =>
        Program.run(args, { env: { HOME: home, COLLOQUY_HOME: home }, cwd: home, input })
      const before = run(["status"])
      assert.strictEqual(before.code, 1)
      assert.include(
        before.stderr,
        "the provider openai needs one. Advice: set OPENAI_API_KEY, or run `colloquy login`",
      )
      assert.strictEqual(run(["doctor"]).code, 1)
      const stored = run(["login", "--api-key"], `${key}\n`)
      assert.deepStrictEqual([stored.code, stored.stdout], [0, "Logged in.\n"])
      assert.include(readFileSync(join(home, "auth.json"), "utf8"), key)
      for (const args of [["status"], ["login", "status"], ["doctor"]]) {
        const { stderr, stdout } = run(args)
        assert.include(stdout, "an API key in")
        assert.notInclude(stdout + stderr, key)
      }
      assert.strictEqual(run(["logout"]).stdout, "Logged out.\n")
      assert.isFalse(existsSync(join(home, "auth.json")))
      assert.strictEqual(run(["login", "--api-key"]).code, 1)
      for (const bad of ["two words", "k\u001b[31mey", "\u0000"]) {
        const refused = run(["login", "--api-key"], bad)
        assert.strictEqual(refused.code, 1)
        assert.include(refused.stderr, "one word of visible ASCII letters")
      }
      assert.isFalse(existsSync(join(home, "auth.json")))
    }).pipe(Effect.scoped),
  )

  it.live("shows nothing of a key that is typed", () =>
    Effect.gen(function* () {
      const home = yield* Home.home()
      const env = { HOME: home, COLLOQUY_HOME: home }
      const pty = yield* Pty.start(["login", "--api-key"], { columns: 80, cwd: home, env })
      yield* pty.shows("API key (not shown):")
      pty.type(`${key}\r`)
      assert.strictEqual(yield* pty.ended, 0)
      assert.notInclude(pty.raw(), key)
      assert.include(readFileSync(join(home, "auth.json"), "utf8"), key)
    }).pipe(Effect.scoped),
  )
})

/** A state directory whose provider is the one at this address, with this key in the environment. */
const homeOf = Effect.fnUntraced(function* (baseUrl: string, apiKey?: string) {
  const provider = ["[model_providers.mine]", 'name = "Mine"', `base_url = "${baseUrl}"`]
  const text = ['model_provider = "mine"', ...provider, 'env_key = "MINE_KEY"'].join("\n")
  const home = yield* Home.home({ "config.toml": text })
  const env = {
    HOME: home,
    COLLOQUY_HOME: home,
    ...(apiKey === undefined ? {} : { MINE_KEY: apiKey }),
  }
  return { home, env, run: (...args: ReadonlyArray<string>) => runIn(home, env, args) }
})

const runIn = (
  cwd: string,
  env: Readonly<Record<string, string>>,
  args: ReadonlyArray<string>,
): Effect.Effect<{ readonly code: number | null; readonly stdout: string }> =>
  // Not at once: the server that answers is in this process.
  Effect.callback((resume) => {
    const child = spawn(process.execPath, [entry, ...args], {
      cwd,
      env: { PATH: process.env["PATH"], ...env },
    })
    let stdout = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.once("close", (code) => resume(Effect.succeed({ code, stdout })))
  })

/** A provider that answers every request so, and never in time for `undefined`. */
const answering = (answer: (request: IncomingMessage) => number | undefined) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<Server>((resume) => {
        const server = createServer((request, response) => {
          const status = answer(request)
          if (status !== undefined) response.writeHead(status).end("{}")
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        }),
    ),
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
  )

describe("doctor", () => {
  it.live("names what is wrong with the configuration and the key, and fails", () =>
    Effect.gen(function* () {
      const { home, run } = yield* homeOf("http://127.0.0.1:1/v1")
      const without = yield* run("doctor")
      assert.strictEqual(without.code, 1)
      assert.include(
        without.stdout,
        "missing key: the provider mine needs one. Advice: set MINE_KEY.",
      )
      writeFileSync(join(home, "config.toml"), "model = [\n")
      const broken = yield* run("doctor")
      assert.strictEqual(broken.code, 1)
      assert.match(broken.stdout, /^broken {2}config: .*config\.toml/m)
    }).pipe(Effect.scoped),
  )

  it.live("asks the provider, and says whether it takes the key", () =>
    Effect.gen(function* () {
      const url = yield* answering(({ headers, url: path }) =>
        path !== "/v1/models" ? 404 : headers.authorization === `Bearer ${key}` ? 200 : 401,
      )
      const good = yield* (yield* homeOf(url, key)).run("doctor")
      assert.match(good.stdout, /^ok {6}provider: mine, http/m)
      assert.match(good.stdout, /^ok {6}key: MINE_KEY is set, and mine takes it$/m)
      const bad = yield* (yield* homeOf(url, "sk-wrong")).run("doctor")
      assert.strictEqual(bad.code, 1)
      assert.match(bad.stdout, /^broken {2}key: mine refuses it, with the status 401$/m)
      assert.notInclude(good.stdout + bad.stdout, "sk-")
    }).pipe(Effect.scoped),
  )

  it.live.each([
    [500, 1, /^broken {2}provider: mine, http.*, answers with the status 500\./m],
    [503, 1, /^broken {2}provider: mine, http.*, answers with the status 503\./m],
    [429, 0, /^warning provider: mine, http.*, answers with the status 429: too many requests/m],
    [404, 0, /^ok {6}provider: mine, http/m],
  ] as const)("says that a provider answers with %i", ([status, code, line]) =>
    Effect.gen(function* () {
      const { run } = yield* homeOf(yield* answering(() => status), key)
      // Whether commands can be confined is a matter of the machine.
      const other = yield* (yield* homeOf(yield* answering(() => 200), key)).run("doctor")
      const found = yield* run("doctor")
      assert.match(found.stdout, line)
      assert.include(found.stdout, "ok      key: MINE_KEY is set\n")
      assert.strictEqual(found.code, code === 1 ? 1 : other.code)
    }).pipe(Effect.scoped),
  )

  it.live("says that a provider needs a key, which is configured without one", () =>
    Effect.gen(function* () {
      const { home, run } = yield* homeOf(yield* answering(() => 401))
      const path = join(home, "config.toml")
      writeFileSync(path, readFileSync(path, "utf8").replaceAll(/^env_key.*$/gm, ""))
      const { code, stdout } = yield* run("doctor")
      assert.strictEqual(code, 1)
      assert.match(stdout, /^missing key: mine needs one, it answers with the status 401/m)
    }).pipe(Effect.scoped),
  )

  it.live("says that a provider is down or does not answer", () =>
    Effect.gen(function* () {
      const down = yield* (yield* homeOf("http://127.0.0.1:1/v1", key)).run("doctor")
      assert.strictEqual(down.code, 1)
      assert.match(down.stdout, /^broken {2}provider: mine cannot be reached at .*ECONNREFUSED$/m)
      const slow = yield* (yield* homeOf(yield* answering(() => undefined), key)).run("doctor")
      assert.strictEqual(slow.code, 1)
      assert.match(
        slow.stdout,
        /^broken {2}provider: mine cannot be reached at .*no answer in 5s$/m,
      )
    }).pipe(Effect.scoped),
  )

  it.live("checks what options select", () =>
    Effect.gen(function* () {
      const { run } = yield* homeOf("http://127.0.0.1:1/v1")
      const { stdout } = yield* run("doctor", "-c", "model_provider=offline", "-m", "tiny")
      assert.include(stdout, "ok      provider: offline, built in, with the model tiny")
      assert.strictEqual((yield* run("doctor", "-c", "nonsense")).code, 2)
    }).pipe(Effect.scoped),
  )

  it.live.each([80, 120])("fits a terminal of %i columns", (columns) =>
    Effect.gen(function* () {
      const { env, home } = yield* homeOf("http://127.0.0.1:1/v1", key)
      const pty = yield* Pty.start(["doctor"], { columns, cwd: home, env })
      assert.strictEqual(yield* pty.ended, 1)
      for (const row of pty.rows()) assert.isAtMost(widthOf(row), columns)
      assert.isTrue(pty.rows().some((row) => row.startsWith("broken  provider: mine cannot")))
    }).pipe(Effect.scoped),
  )
})

const shells = { bash: "bash -n", zsh: "zsh -n", fish: "fish --no-execute" } as const
const has = (shell: string): boolean => spawnSync(shell, ["--version"]).status === 0

describe("completions", () => {
  for (const [shell, check] of Object.entries(shells)) {
    // What a machine lacks is skipped, with the reason in the name.
    it.live.skipIf(!has(shell))(`${shell} accepts its script (needs ${shell})`, () =>
      Effect.gen(function* () {
        const { home, run } = yield* homeWith()
        const { code, stdout } = run(["completions", shell])
        assert.strictEqual(code, 0)
        const path = join(home, "script")
        writeFileSync(path, stdout)
        const [command = "", ...args] = check.split(" ")
        const { status, stderr } = spawnSync(command, [...args, path], { encoding: "utf8" })
        assert.deepStrictEqual([status, stderr], [0, ""])
      }).pipe(Effect.scoped),
    )
  }

  /** What the shell offers for this line. */
  const completers = {
    bash: (path: string, words: ReadonlyArray<string>) => {
      const line = words.join(" ")
      const name = "$(complete -p colloquy | sed 's/.*-F \\([^ ]*\\).*/\\1/')"
      const program = [
        `source '${path}'`,
        `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})`,
        `COMP_CWORD=${words.length - 1}`,
        `COMP_LINE='${line}'`,
        `COMP_POINT=${line.length}`,
        `${name} colloquy '${words.at(-1)}' '${words.at(-2)}'`,
        'printf "%s\\n" "${COMPREPLY[@]}"',
      ].join("\n")
      return spawnSync("bash", ["--norc", "-c", program], { encoding: "utf8" }).stdout
    },
    fish: (path: string, words: ReadonlyArray<string>, home: string) =>
      spawnSync("fish", ["-N", "-c", `source '${path}'; complete -C '${words.join(" ")}'`], {
        encoding: "utf8",
        env: { PATH: process.env["PATH"], HOME: home },
      }).stdout.replaceAll(/\t.*/g, ""),
    // Its completions run in its line editor only: it has a terminal of its own, in which Tab is pressed.
    zsh: (path: string, words: ReadonlyArray<string>, home: string) => {
      const program = [
        "zmodload zsh/zpty",
        "zpty z zsh -f -i",
        `zpty -w z 'PS1="> "; autoload -U compinit; compinit -D -u; source ${path}'`,
        "zpty -w z 'compdef _colloquy colloquy; print REA\"\"DY'",
        "zpty -r -m z all '*READY*'",
        `zpty -w -n z $'${words.join(" ")}\\t\\C-a\\#\\C-m'`,
        "zpty -w z 'print EN\"\"DED'",
        "zpty -r -m z all '*ENDED*'",
        "print -r -- $all",
      ].join("\n")
      const { stdout } = spawnSync("zsh", ["-f", "-c", program], {
        encoding: "utf8",
        env: { PATH: process.env["PATH"], HOME: home, TERM: "dumb" },
        timeout: 20_000,
      })
      return stdout
    },
  } as const

  for (const [shell, complete] of Object.entries(completers)) {
    it.live.skipIf(!has(shell))(`${shell} completes command lines (needs ${shell})`, () =>
      Effect.gen(function* () {
        const { home, run } = yield* homeWith()
        const path = join(home, shell === "zsh" ? "_colloquy" : "script")
        writeFileSync(path, run(["completions", shell]).stdout)
        const offered = (...words: ReadonlyArray<string>) =>
          complete(path, ["colloquy", ...words], home)
            .trim()
            .split(/\s+/)
        assert.include(offered("sess"), "sessions")
        assert.include(offered("mcp", "-s", "work"), "workspace-write")
        assert.include(offered("completions", "z"), "zsh")
        // It takes seconds to start.
        if (shell === "zsh") return
        assert.include(offered("app"), "app-server")
        assert.include(offered("comp"), "completions")
        assert.include(offered("completions", ""), "fish")
        assert.include(offered("sessions", "arch"), "archive")
        assert.include(offered("exec", "--color", "al"), "always")
        assert.include(offered("exec", "re"), "resume")
        assert.include(offered("-a", "nev"), "never")
        assert.include(offered("-a", "never", "ex"), "exec")
        assert.include(offered("exec", "-a", "nev"), "never")
        for (const name of ["exec", "serve", "completions"])
          assert.include(offered("help", ""), name)
        assert.include(offered("help", "sessions", "l"), "list")
      }).pipe(Effect.scoped),
    )
  }
})

describe("every command for people", () => {
  it.live.each(["sessions list", "status", "completions bash", "exec --help", "chat 'say hi'"])(
    "`%s` fails in one line where stdout is a full disk",
    (words) =>
      Effect.gen(function* () {
        const { env, home } = yield* homeWith()
        const program = `'${process.execPath}' '${entry}' ${words} > /dev/full`
        const { status, stderr } = spawnSync("sh", ["-c", program], {
          cwd: home,
          env: { PATH: process.env["PATH"], ...env },
          stdio: ["ignore", "pipe", "pipe"],
          encoding: "utf8",
        })
        assert.deepStrictEqual(
          [status, stderr],
          [1, "colloquy: stdout cannot be written (ENOSPC)\n"],
        )
      }).pipe(Effect.scoped),
  )

  it.live("quotes no word of the command line that a terminal would obey", () =>
    Effect.gen(function* () {
      const { run } = yield* homeWith()
      const evil = "\u001b[31mx"
      for (const words of [
        ["sessions", "show", evil],
        ["exec", "--skip-git-repo-check", "resume", evil, "x"],
        ["exec", `--${evil}`],
        ["chat", "-C", `/${evil}`],
      ]) {
        const { code, stderr } = run(words)
        assert.isAbove(code ?? 0, 0)
        assert.notInclude(stderr, "\u001b")
        assert.include(stderr, "\\x1b[31mx")
      }
    }).pipe(Effect.scoped),
  )
})

describe("help and usage errors", () => {
  it.live("`help` shows the page of a command", () =>
    Effect.gen(function* () {
      const { run } = yield* homeWith()
      assert.include(run(["help", "sessions", "list"]).stdout, "colloquy sessions list [flags]")
      assert.include(run(["help", "mcp"]).stdout, "colloquy mcp [flags]")
    }).pipe(Effect.scoped),
  )

  it.live.each([
    "chat",
    "exec",
    "login",
    "logout",
    "status",
    "completions",
    "sessions",
    "mcp",
    ...["list", "show", "resume", "rename", "fork", "archive", "unarchive", "rm"].map(
      (name) => `sessions ${name}`,
    ),
    "login status",
  ])("the page of %s has at most 80 columns", (words) =>
    Effect.gen(function* () {
      const { run } = yield* homeWith()
      const { code, stderr, stdout } = run([...words.split(" "), "--help"])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.include(stdout, `colloquy ${words}`)
      for (const row of stdout.split("\n")) assert.isAtMost(widthOf(row), 80, row)
    }).pipe(Effect.scoped),
  )

  it.live("options that select a configuration stand before a command or after it", () =>
    Effect.gen(function* () {
      const { run } = yield* homeWith()
      const options = ["-a", "never", "-s", "read-only", "-m", "tiny", "-C", ".", "-c", "a.b=1"]
      for (const [words, input] of [
        [["exec", "--skip-git-repo-check", "say hi"], ""],
        [["chat"], "say hi\n"],
        [["sessions", "list"], ""],
        [["status"], ""],
        [["completions", "bash"], ""],
      ] as const) {
        const [name, ...rest] = words
        for (const line of [
          [...options, ...words],
          [name, ...options, ...rest],
        ]) {
          const { code, stderr } = run(line, input)
          assert.strictEqual(code, 0, `${line.join(" ")}: ${stderr}`)
        }
      }
      const wrong = run(["--listen", "value", "chat"])
      assert.deepStrictEqual(
        [wrong.code, wrong.stderr],
        [2, "colloquy: Unrecognized flag: --listen in command colloquy\nSee `colloquy --help`\n"],
      )
    }).pipe(Effect.scoped),
  )

  it.live("a misspelt word is named on stderr with the nearest one, exit code 2", () =>
    Effect.gen(function* () {
      const { run } = yield* homeWith()
      for (const [words, near] of [
        [["chta"], "chat"],
        [["sesions"], "sessions"],
        [["sessions", "lst"], "list"],
        [["sessions", "list", "--serch", "x"], "--search"],
        [["completions", "bsh"], "bash"],
        [["mpc"], "mcp"],
        [["help", "sesions"], "sessions"],
        [["sessions", "list", "-c", "model"], "missing '='"],
        [["mcp", "-c", "model"], "missing '='"],
        [["exec", "one", "two"], "See `colloquy exec --help`"],
        [["-a", "nver", "chat"], "never"],
        [["sessions", "fork", "x", "--drop", "-1"], "--drop"],
        [["sessions", "rename", "x", ""], "name"],
        [["sessions", "list", "--search", ""], "--search"],
      ] as const) {
        const { code, stderr, stdout } = run(words)
        assert.deepStrictEqual([code, stdout], [2, ""], words.join(" "))
        assert.include(stderr, near)
      }
    }).pipe(Effect.scoped),
  )

  it.live("shows a word without what a terminal would obey", () =>
    Effect.gen(function* () {
      const { run } = yield* homeWith()
      const word = "b\u009b31m\u202ed"
      for (const words of [[word], ["sessions", word], ["mcp", word]]) {
        const { code, stderr } = run(words)
        assert.strictEqual(code, 2)
        assert.include(stderr, "b\\u009b31m\\u202ed")
        assert.notMatch(stderr, /[\u009b\u202e]/)
      }
    }).pipe(Effect.scoped),
  )
})
