/** The handlers of the methods of app-server v2 that belong to no thread, one per method: the only table of them. */
import type { Params } from "@colloquy/protocol/Method"
import * as Accounts from "@colloquy/protocol/thread/Accounts"
import * as Commands from "@colloquy/protocol/thread/Commands"
import * as Configuration from "@colloquy/protocol/thread/Configuration"
import * as Files from "@colloquy/protocol/thread/Files"
import * as Search from "@colloquy/protocol/thread/FileSearch"
import * as Models from "@colloquy/protocol/thread/Models"
import * as Skills from "@colloquy/protocol/thread/Skills"
import * as ToolServers from "@colloquy/protocol/thread/ToolServers"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type * as Scope from "effect/Scope"
import type { AppServices } from "../../app/AppCall.ts"
import type { ThreadCall } from "../ThreadCall.ts"
import type { HostCall, HostHandler } from "./HostCall.ts"
import * as HostConnection from "./HostConnection.ts"
import { accountLoginCancel } from "./methods/AccountLoginCancel.ts"
import { accountLoginStart } from "./methods/AccountLoginStart.ts"
import { accountLogout } from "./methods/AccountLogout.ts"
import { accountRateLimitsRead } from "./methods/AccountRateLimitsRead.ts"
import { accountRead } from "./methods/AccountRead.ts"
import { checkGovCloudRequirements } from "./methods/AccountBedrockCheckGovCloudRequirements.ts"
import { collaborationModeList } from "./methods/CollaborationModeList.ts"
import { commandExec } from "./methods/CommandExec.ts"
import { commandExecResize } from "./methods/CommandExecResize.ts"
import { commandExecTerminate } from "./methods/CommandExecTerminate.ts"
import { commandExecWrite } from "./methods/CommandExecWrite.ts"
import { configBatchWrite } from "./methods/ConfigBatchWrite.ts"
import { configRead } from "./methods/ConfigRead.ts"
import { configRequirementsRead } from "./methods/ConfigRequirementsRead.ts"
import { configValueWrite } from "./methods/ConfigValueWrite.ts"
import { fsCopy } from "./methods/FsCopy.ts"
import { fsCreateDirectory } from "./methods/FsCreateDirectory.ts"
import { fsGetMetadata } from "./methods/FsGetMetadata.ts"
import { fsReadDirectory } from "./methods/FsReadDirectory.ts"
import { fsReadFile } from "./methods/FsReadFile.ts"
import { fsRemove } from "./methods/FsRemove.ts"
import { fsUnwatch } from "./methods/FsUnwatch.ts"
import { fsWatch } from "./methods/FsWatch.ts"
import { fsWriteFile } from "./methods/FsWriteFile.ts"
import { fuzzyFileSearch } from "./methods/FuzzyFileSearch.ts"
import { getAuthStatus } from "./methods/GetAuthStatus.ts"
import { gitDiffToRemote } from "./methods/GitDiffToRemote.ts"
import { hooksList } from "./methods/HooksList.ts"
import { mcpServerResourceRead } from "./methods/McpServerResourceRead.ts"
import { mcpServerStatusList } from "./methods/McpServerStatusList.ts"
import { mcpServerToolCall } from "./methods/McpServerToolCall.ts"
import { modelList } from "./methods/ModelList.ts"
import { permissionProfileList } from "./methods/PermissionProfileList.ts"
import { pluginInstalled } from "./methods/PluginInstalled.ts"
import { searchSessionStart } from "./methods/FuzzyFileSearchSessionStart.ts"
import { searchSessionStop } from "./methods/FuzzyFileSearchSessionStop.ts"
import { searchSessionUpdate } from "./methods/FuzzyFileSearchSessionUpdate.ts"
import { skillsList } from "./methods/SkillsList.ts"

/** A handler of the table, whatever its method. */
type AnyHandler = (
  params: never,
  call: HostCall,
) => Effect.Effect<unknown, JsonRpcError, AppServices>

const entry = <M extends Rpc.Any>(
  method: M,
  handler: HostHandler<M>,
): readonly [string, AnyHandler] => [method._tag, handler]

const handlers = new Map<string, AnyHandler>([
  entry(Accounts.AccountRead, accountRead),
  entry(Accounts.AccountLoginStart, accountLoginStart),
  entry(Accounts.AccountLoginCancel, accountLoginCancel),
  entry(Accounts.AccountLogout, accountLogout),
  entry(Accounts.AccountRateLimitsRead, accountRateLimitsRead),
  entry(Accounts.CheckGovCloudRequirements, checkGovCloudRequirements),
  entry(Accounts.GetAuthStatus, getAuthStatus),
  entry(Models.ModelList, modelList),
  entry(Models.CollaborationModeList, collaborationModeList),
  entry(Models.PermissionProfileList, permissionProfileList),
  entry(Configuration.ConfigRead, configRead),
  entry(Configuration.ConfigValueWrite, configValueWrite),
  entry(Configuration.ConfigBatchWrite, configBatchWrite),
  entry(Configuration.ConfigRequirementsRead, configRequirementsRead),
  entry(Skills.SkillsList, skillsList),
  entry(Skills.HooksList, hooksList),
  entry(Skills.PluginInstalled, pluginInstalled),
  entry(ToolServers.McpServerStatusList, mcpServerStatusList),
  entry(ToolServers.McpServerToolCall, mcpServerToolCall),
  entry(ToolServers.McpServerResourceRead, mcpServerResourceRead),
  entry(Commands.CommandExec, commandExec),
  entry(Commands.CommandExecWrite, commandExecWrite),
  entry(Commands.CommandExecResize, commandExecResize),
  entry(Commands.CommandExecTerminate, commandExecTerminate),
  entry(Search.FuzzyFileSearch, fuzzyFileSearch),
  entry(Search.SearchSessionStart, searchSessionStart),
  entry(Search.SearchSessionUpdate, searchSessionUpdate),
  entry(Search.SearchSessionStop, searchSessionStop),
  entry(Search.GitDiffToRemote, gitDiffToRemote),
  entry(Files.FsReadFile, fsReadFile),
  entry(Files.FsWriteFile, fsWriteFile),
  entry(Files.FsGetMetadata, fsGetMetadata),
  entry(Files.FsReadDirectory, fsReadDirectory),
  entry(Files.FsCreateDirectory, fsCreateDirectory),
  entry(Files.FsCopy, fsCopy),
  entry(Files.FsRemove, fsRemove),
  entry(Files.FsWatch, fsWatch),
  entry(Files.FsUnwatch, fsUnwatch),
])

/** The handlers by method name, for the table of the dialect. */
export type HostHandlers = Readonly<
  Record<
    string,
    (params: never, call: ThreadCall) => Effect.Effect<unknown, JsonRpcError, AppServices>
  >
>

/** The handlers of one connection. What they start ends with the current scope. */
export const hostHandlers: Effect.Effect<HostHandlers, never, Scope.Scope> = Effect.map(
  HostConnection.make,
  (host) =>
    Object.fromEntries(
      [...handlers].map(([name, handler]) => [
        name,
        (params: never, { connection, peer, ...call }: ThreadCall) =>
          handler(params, {
            ...call,
            peer: connection.peerOf(peer),
            connection: connection.app,
            host,
            notifyAll: <M extends Rpc.Any>(method: M, params: Params<M>) =>
              connection.registry.notifyOthers(method, params),
          }),
      ]),
    ),
)
