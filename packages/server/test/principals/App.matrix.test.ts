/** The matrix of principals over the app-server: every method of the dialect. */
import { AppServer } from "@colloquy/protocol/app/AppServer"
import { type Dialect, infoOf, methodsOf } from "@colloquy/protocol/Method"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Auth } from "../../src/app/ports/AuthPort.ts"
import { UserConfig } from "../../src/app/ports/UserConfigPort.ts"
import { account, loginId } from "../support/Accounts.ts"
import {
  created,
  hello,
  initializeParams,
  listening,
  resultOf,
  say,
  text,
  turnParams,
  withApp,
} from "../support/AppHarness.ts"
import { asking, exec } from "../support/Asking.ts"
import type { Harness } from "../support/Harness.ts"
import * as PathStore from "../support/PathStore.ts"
import {
  type Attempts,
  type Form,
  hearsNothing,
  type Ids,
  intrude,
  names,
  type Row,
  rowsOf,
  send,
  unknownIds,
} from "./Matrix.ts"

type Methods = typeof AppServer extends Dialect<infer C, infer _> ? C : never

const about = ({ conversation }: Ids) => ({ conversationId: conversation })

/** The params of every method; one that is missing here does not compile. */
const methods: Attempts<Methods["_tag"]> = {
  initialize: [() => initializeParams()],
  initialized: [() => ({})],
  "$/cancelRequest": [({ request }) => ({ id: request })],
  getUserAgent: [() => ({})],
  newConversation: [() => ({}), ({ path }) => ({ config: { experimental_resume: path } })],
  listConversations: [() => ({})],
  resumeConversation: [({ path }) => ({ path })],
  archiveConversation: [
    about,
    ({ conversation, path }) => ({ conversationId: conversation, rolloutPath: path }),
  ],
  forkConversation: [about],
  getConversation: [about],
  sendUserMessage: [(ids) => ({ ...about(ids), items: text("more") })],
  sendUserTurn: [({ conversation }) => turnParams(conversation)],
  interruptConversation: [about],
  addConversationListener: [about, (ids) => ({ ...about(ids), after: -1 })],
  removeConversationListener: [({ other }) => ({ subscriptionId: other })],
  loginApiKey: [() => ({ apiKey: "stolen" })],
  loginChatGpt: [() => ({})],
  cancelLoginChatGpt: [() => ({ loginId })],
  logoutChatGpt: [() => ({})],
  getAuthStatus: [
    () => ({ includeToken: true }),
    () => ({ includeToken: true, refreshToken: true }),
  ],
  userInfo: [() => ({})],
  "account/rateLimits/read": [() => ({})],
  gitDiffToRemote: [() => ({ cwd: "/work" })],
  execOneOffCommand: [() => ({ command: ["true"] })],
  fuzzyFileSearch: [() => ({ query: "a", roots: ["/work"] })],
  getUserSavedConfig: [() => ({})],
  setDefaultModel: [() => ({ model: "other" })],
  "model/list": [() => ({})],
}

const known = methodsOf(AppServer.clientToServer)

const form: Form = {
  isNotification: (method) => {
    const definition = known.get(method)
    return definition !== undefined && infoOf(definition).kind === "notification"
  },
  params: (_, params) => params,
}

/** The login of the user of the server, in progress and with a key; and what changed it. */
const withLogin = () => {
  const changes: Array<string> = []
  const { auth } = account({ email: "user@example.org" })
  const changing =
    (name: string) =>
    <A>(value: A): A => {
      changes.push(name)
      return value
    }
  return {
    changes,
    ports: {
      auth: Auth.of({
        ...auth,
        loginApiKey: (key) => Effect.map(auth.loginApiKey(key), changing("loginApiKey")),
        cancelLogin: (id) => Effect.map(auth.cancelLogin(id), changing("cancelLogin")),
        logout: Effect.map(auth.logout, changing("logout")),
        status: ({ refresh }) =>
          Effect.sync(() => {
            if (refresh) changes.push("refresh")
            return { required: true, method: "apikey" as const, token: Redacted.make("secret-key") }
          }),
      }),
      config: UserConfig.of({
        ...UserConfig.none,
        setDefaultModel: () => Effect.sync(() => void changes.push("setDefaultModel")),
      }),
    },
  }
}

/** Runs `body` with an owner who has a conversation with a pending question and a listener, and an intruder. */
const withBoth = (
  body: (
    owner: Harness,
    intruder: Harness,
    ids: Ids,
    changes: ReadonlyArray<string>,
  ) => Effect.Effect<void, never, Scope.Scope>,
) => {
  const { changes, ports } = withLogin()
  return withApp(
    {
      ports,
      principal: "alice",
      store: PathStore.layer,
      script: ({ index }) => Script.reply(Script.toolCall("ask", {}, `c${index}`)),
      tools: asking([exec]).tools,
    },
    (alice) =>
      Effect.gen(function* () {
        const bob = yield* alice.as("bob")
        yield* hello(bob)
        const conversation = yield* created(alice)
        const other = yield* listening(alice, conversation)
        resultOf(yield* say(alice, conversation, "hi"))
        yield* alice.quiet
        const ids = {
          conversation,
          path: PathStore.pathOf(conversation),
          task: unknownIds.task,
          other,
          request: "say",
        }
        yield* body(alice, bob, ids, changes)
      }),
  )
}

/** Methods whose responses say nothing about what they name. */
const saysNothing: ReadonlySet<string> = new Set(["$/cancelRequest"])

const owned: Ids = {
  conversation: "00000000-0000-4000-8000-00000000000a",
  path: PathStore.pathOf("00000000-0000-4000-8000-00000000000a"),
  task: "t",
  other: "00000000-0000-4000-8000-00000000000b",
  request: "r",
}

describe("the matrix of principals over the app-server", () => {
  it("has every method", () => {
    assert.sameMembers(Object.keys(methods), [...known.keys()])
  })

  it.effect("every method treats what belongs to another principal as unknown", () =>
    withBoth((alice, bob, ids, changes) =>
      Effect.gen(function* () {
        yield* intrude(alice, bob, form, rowsOf(methods), ids)
        assert.deepStrictEqual(changes, [])
        assert.notInclude(JSON.stringify(bob.messages), "secret-key")
        assert.notInclude(JSON.stringify(bob.messages), "user@example.org")
        const more: Row = { method: "newConversation", name: "more", attempt: () => ({}) }
        const interrupt: Row = {
          method: "interruptConversation",
          name: "interrupt",
          attempt: about,
        }
        yield* hearsNothing(
          bob,
          Effect.andThen(send(alice, form, more, ids), send(alice, form, interrupt, ids)),
        )
      }),
    ),
  )

  it.effect.each(
    rowsOf(methods).filter((row) => names(row, owned) && !saysNothing.has(row.method)),
  )("the owner gets another answer to $name", (row) =>
    withBoth((alice, _, ids) =>
      Effect.gen(function* () {
        const unknown = yield* send(alice, form, row, unknownIds)
        const own = yield* send(alice, form, row, ids)
        assert.notStrictEqual(own.text, unknown.text)
      }),
    ),
  )

  it.effect("the user of the server reads and changes its login and its configuration", () => {
    const { changes, ports } = withLogin()
    return withApp({ ports }, (local) =>
      Effect.gen(function* () {
        const status = yield* local.ask(1, "getAuthStatus", { includeToken: true })
        assert.strictEqual(resultOf(status)["authToken"], "secret-key")
        resultOf(yield* local.ask(2, "loginApiKey", { apiKey: "k" }))
        resultOf(yield* local.ask(3, "logoutChatGpt", {}))
        resultOf(yield* local.ask(4, "setDefaultModel", { model: "other" }))
        assert.deepStrictEqual(changes, ["loginApiKey", "logout", "setDefaultModel"])
      }),
    )
  })
})
