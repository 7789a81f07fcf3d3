import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { errorOf } from "../../support/AppHarness.ts"
import { withThreads } from "../../support/Threading.ts"

/** Params that do not match, and the member that the error names. */
const cases: ReadonlyArray<readonly [method: string, params: object, member: string]> = [
  ["account/read", { refreshToken: 1 }, "refreshToken"],
  ["account/login/start", { type: "apiKey" }, "apiKey"],
  ["account/login/start", { type: "x" }, "type"],
  ["account/login/cancel", {}, "loginId"],
  ["getAuthStatus", { includeToken: 1 }, "includeToken"],
  ["model/list", { limit: -1 }, "limit"],
  ["permissionProfile/list", { cwd: 1 }, "cwd"],
  ["config/read", { includeLayers: 1 }, "includeLayers"],
  ["config/value/write", { keyPath: "a", value: 1, mergeStrategy: "x" }, "mergeStrategy"],
  ["config/batchWrite", { edits: 1 }, "edits"],
  ["skills/list", { cwds: 1 }, "cwds"],
  ["hooks/list", { cwds: [1] }, "cwds"],
  ["plugin/installed", { cwds: 1 }, "cwds"],
  ["mcpServerStatus/list", { detail: "x" }, "detail"],
  ["mcpServer/tool/call", { threadId: "t", server: "s" }, "tool"],
  ["mcpServer/resource/read", { uri: "u" }, "server"],
  ["command/exec", { command: "true" }, "command"],
  ["command/exec", { command: ["a"], outputBytesCap: -1 }, "outputBytesCap"],
  ["command/exec/write", { deltaBase64: "" }, "processId"],
  ["command/exec/resize", { processId: "p", size: { rows: 1 } }, "cols"],
  ["command/exec/terminate", {}, "processId"],
  ["fuzzyFileSearch", { query: "a" }, "roots"],
  ["fuzzyFileSearch/sessionStart", { sessionId: "s" }, "roots"],
  ["fuzzyFileSearch/sessionUpdate", { sessionId: "s" }, "query"],
  ["fuzzyFileSearch/sessionStop", {}, "sessionId"],
  ["gitDiffToRemote", {}, "cwd"],
  ["fs/readFile", {}, "path"],
  ["fs/writeFile", { path: "/a" }, "dataBase64"],
  ["fs/getMetadata", { path: 1 }, "path"],
  ["fs/readDirectory", {}, "path"],
  ["fs/createDirectory", { path: "/a", recursive: 1 }, "recursive"],
  ["fs/copy", { sourcePath: "/a" }, "destinationPath"],
  ["fs/remove", { path: "/a", force: "x" }, "force"],
  ["fs/watch", { path: "/a" }, "watchId"],
  ["fs/unwatch", {}, "watchId"],
]

describe("bad params", () => {
  it.effect("are refused with an error that names the member", () =>
    withThreads({}, (app) =>
      Effect.forEach(
        cases,
        ([method, params, member], index) =>
          Effect.map(app.ask(index, method, params), (answer) => {
            const { code, message } = errorOf(answer)
            assert.strictEqual(code, -32600, method)
            assert.include(message, member, method)
          }),
        { discard: true },
      ),
    ),
  )
})
