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
  ["mcpServer/tool/call", { threadId: "t", server: "s", tool: "t" }, "thread id"],
  ["mcpServer/resource/read", { threadId: "t", server: "s", uri: "u" }, "thread id"],
  ["mcpServerStatus/list", { threadId: "t" }, "thread id"],
  ...["data:,", "data:image/png;base64,@@@", "data:text/plain;base64,AAAA"].map(
    (url) =>
      ["turn/start", { threadId: "t", input: [{ type: "image", url }] }, "input.0.url"] as const,
  ),
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

const nul = "/a\0b"

/** Texts with a NUL, and the member that the error names. */
const misread: ReadonlyArray<readonly [method: string, params: object, member: string]> = [
  ["command/exec", { command: ["echo", "a\0b"] }, "command.1"],
  ["command/exec", { command: ["a"], cwd: nul }, "cwd"],
  ["command/exec", { command: ["a"], env: { A: "1\0" } }, "env.A"],
  ["command/exec", { command: ["a"], env: { "A=B": "1" } }, "env"],
  [
    "command/exec",
    { command: ["a"], sandboxPolicy: { type: "workspaceWrite", writableRoots: [nul] } },
    "writableRoots.0",
  ],
  ["execOneOffCommand", { command: ["a\0b"] }, "command.0"],
  ["execOneOffCommand", { command: ["a"], cwd: nul }, "cwd"],
  ["newConversation", { cwd: nul }, "cwd"],
  ["resumeConversation", { path: nul }, "path"],
  ["thread/start", { cwd: nul }, "cwd"],
  ["thread/resume", { threadId: "t", path: nul }, "path"],
  ["thread/list", { cwd: [nul] }, "cwd.0"],
  ["turn/start", { threadId: "t", input: [{ type: "localImage", path: nul }] }, "path"],
  ["turn/start", { threadId: "t", input: [], cwd: nul }, "cwd"],
  ["fuzzyFileSearch", { query: "a", roots: [nul] }, "roots.0"],
  ["gitDiffToRemote", { cwd: nul }, "cwd"],
  ["skills/list", { cwds: [nul] }, "cwds.0"],
  ["config/read", { cwd: nul }, "cwd"],
  ["fs/readFile", { path: nul }, "path"],
  ["fs/writeFile", { path: nul, dataBase64: "" }, "path"],
  ["fs/copy", { sourcePath: "/a", destinationPath: nul }, "destinationPath"],
  ["fs/watch", { watchId: "w", path: nul }, "path"],
]

describe("a text that the operating system would misread", () => {
  it.effect("is refused with an error that names the member, before anything is done", () =>
    withThreads({}, (app) =>
      Effect.forEach(
        misread,
        ([method, params, member], index) =>
          Effect.map(app.ask(index, method, params), (answer) => {
            const { code, message } = errorOf(answer)
            assert.strictEqual(code, -32602, `${method}: ${message}`)
            assert.include(message, member, method)
          }),
        { discard: true },
      ),
    ),
  )
})
