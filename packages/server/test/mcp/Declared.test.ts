import { CodexMcp } from "@colloquy/protocol/mcp/CodexMcp"
import { handshakeVersions, statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import { infoOf, methodsOf } from "@colloquy/protocol/Method"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { codeOf, initialized, stateless } from "../support/Featuring.ts"
import { type Harness, withServer } from "../support/Harness.ts"

type Members = Readonly<Record<string, unknown>>

const at = (capabilities: Members, path: string): unknown =>
  path
    .split(" ")
    .reduce<unknown>(
      (of, name) => (typeof of === "object" && of !== null ? Reflect.get(of, name) : undefined),
      capabilities,
    )

/** The methods that a capability declares, by its path. */
const promises: Readonly<Record<string, ReadonlyArray<string>>> = {
  tools: ["tools/list", "tools/call"],
  resources: ["resources/list", "resources/templates/list", "resources/read"],
  prompts: ["prompts/list", "prompts/get"],
  completions: ["completion/complete"],
}

const ofHandshake: typeof promises = {
  ...promises,
  logging: ["logging/setLevel"],
  "resources subscribe": ["resources/subscribe", "resources/unsubscribe"],
  tasks: ["tasks/get", "tasks/result"],
  "tasks list": ["tasks/list"],
  "tasks cancel": ["tasks/cancel"],
}

const ofStateless: typeof promises = {
  ...promises,
  "extensions io.modelcontextprotocol/tasks": ["tasks/get", "tasks/update", "tasks/cancel"],
}

const requests = [...methodsOf(CodexMcp.clientToServer).values()]
  .filter((method) => infoOf(method).kind === "request")
  .map(({ _tag }) => _tag)

/** Methods that are answered with anything but `Method not found`. */
const handled = (server: Harness, params: object) =>
  Effect.filter(requests, (method) =>
    Effect.map(server.ask(method, method, params), (answer) => codeOf(answer) !== -32601),
  )

const promised = (capabilities: Members, of: typeof promises, always: ReadonlyArray<string>) =>
  [
    ...always,
    ...Object.entries(of).flatMap(([path, methods]) =>
      at(capabilities, path) === undefined ? [] : methods,
    ),
  ].toSorted()

describe("what is declared", () => {
  it.effect.each([...handshakeVersions])(
    "is handled, and what is handled is declared: initialize of %s",
    (version) =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          const { result } = yield* initialized(server, version)
          const capabilities = result?.["capabilities"] as Members
          assert.deepStrictEqual(
            (yield* handled(server, {})).toSorted(),
            promised(capabilities, ofHandshake, ["initialize", "ping"]),
          )
        }),
      ),
  )

  it.effect.each([...statelessVersions])(
    "is handled, and what is handled is declared: server/discover of %s",
    () =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          const { result } = yield* server.ask("discover", "server/discover", stateless())
          const capabilities = result?.["capabilities"] as Members
          const always = ["server/discover", "subscriptions/listen"]
          assert.deepStrictEqual(
            (yield* handled(server, stateless())).toSorted(),
            promised(capabilities, ofStateless, always),
          )
        }),
      ),
  )
})
