/** The handshake of a connection that uses app-server v2. The same connection may use v1 as well. */
import { notification, request } from "../Method.ts"
import { initializeInfo, InitializeParams, ServerIdentity } from "../app/Initialize.ts"
import * as Schema from "effect/Schema"
import { none } from "./Values.ts"

/** The client introduces itself. */
export const Initialize = request("initialize", {
  params: InitializeParams,
  result: ServerIdentity,
  ...initializeInfo,
})

/** The client is ready. */
export const Initialized = notification("initialized", {
  since: "0.45",
  doc: "The client has received the response to `initialize`. It has no effect, and may be left out.",
})

/** Whether the server can be controlled by another machine. */
export const RemoteControlStatusChanged = notification("remoteControl/status/changed", {
  params: Schema.Struct({
    /** This program has no remote control. */
    status: Schema.Literals(["disabled"]),
    /** Name of the machine. */
    serverName: Schema.String,
    /** Id of this installation of the program. */
    installationId: Schema.String,
    environmentId: none,
  }),
  since: "0.153",
  doc: "Whether the server can be controlled from another machine: it cannot. Sent once, after the response to `initialize`.",
})
