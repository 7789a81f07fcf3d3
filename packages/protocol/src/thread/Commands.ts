/** Methods of app-server v2 that run commands of the client, outside of any thread. */
import * as Schema from "effect/Schema"
import { SystemText } from "../text/SystemText.ts"
import { notification, request } from "../Method.ts"
import { maybe, SandboxPolicyParam } from "./Values.ts"

const done = Schema.Struct({})

const cells = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff }))

/** Size of a terminal in characters. */
export const TerminalSize = Schema.Struct({ rows: cells, cols: cells })
/** A decoded `TerminalSize`. */
export type TerminalSize = typeof TerminalSize.Type

const named = {
  /** Chosen by the client; unique among the running commands of its connection. */
  processId: Schema.String,
}

/** Runs a command. */
export const CommandExec = request("command/exec", {
  params: Schema.Struct({
    /** Its words; at least one. */
    command: Schema.Array(SystemText),
    /** Needed for a terminal and for streams. */
    processId: maybe(Schema.String),
    /** True: it runs in a terminal, and its streams are notified. Default false. */
    tty: maybe(Schema.Boolean),
    /** True: `command/exec/write` writes its standard input. Default false: that is empty. */
    streamStdin: maybe(Schema.Boolean),
    /** True: its output is notified as it is written, and is not in the result. Default false. */
    streamStdoutStderr: maybe(Schema.Boolean),
    /** Most bytes of each stream. */
    outputBytesCap: maybe(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
    disableOutputCap: maybe(Schema.Boolean),
    disableTimeout: maybe(Schema.Boolean),
    timeoutMs: maybe(Schema.Int),
    /** Default: the directory of the server. */
    cwd: maybe(SystemText),
    /** Added to the environment of the server; null removes a variable. */
    env: maybe(Schema.Record(Schema.String, Schema.NullOr(Schema.String))),
    /** Of a terminal. */
    size: maybe(TerminalSize),
    /** Default: as configured. */
    sandboxPolicy: maybe(SandboxPolicyParam),
    permissionProfile: maybe(Schema.String),
  }),
  result: Schema.Struct({
    /** 124 when its time was up. */
    exitCode: Schema.Int,
    stdout: Schema.String,
    stderr: Schema.String,
  }),
  experimental: ["permissionProfile"],
  since: "0.58",
  doc: "Runs a command, given by its words, in the configured sandbox, without an approval. Responds when the command has ended and all its output was notified.",
})

/** Writes to a running command. */
export const CommandExecWrite = request("command/exec/write", {
  params: Schema.Struct({
    ...named,
    deltaBase64: maybe(Schema.String),
    /** True: nothing more follows. Default false. */
    closeStdin: maybe(Schema.Boolean),
  }),
  result: done,
  cancellable: false,
  since: "0.110",
  doc: "Writes to the standard input of a command of this connection, or closes it.",
})

/** Resizes a terminal. */
export const CommandExecResize = request("command/exec/resize", {
  params: Schema.Struct({ ...named, size: TerminalSize }),
  result: done,
  cancellable: false,
  since: "0.110",
  doc: "Changes the size of the terminal of a command of this connection.",
})

/** Ends a running command. */
export const CommandExecTerminate = request("command/exec/terminate", {
  params: Schema.Struct(named),
  result: done,
  cancellable: false,
  since: "0.110",
  doc: "Ends a command of this connection.",
})

/** Output of a command. */
export const CommandExecOutputDelta = notification("command/exec/outputDelta", {
  params: Schema.Struct({
    ...named,
    /** A terminal has one stream, `stdout`. */
    stream: Schema.Literals(["stdout", "stderr"]),
    deltaBase64: Schema.String,
    /** True in the last part of a stream whose further output is dropped. */
    capReached: Schema.Boolean,
  }),
  unchecked: true,
  since: "0.110",
  doc: "More output of a command, sent to the connection that runs it.",
})
