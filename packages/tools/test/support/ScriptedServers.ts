/** The tools over a machine that does nothing; its only tools are those of scripted tool servers. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { type Connecting, ToolServers } from "../../src/mcp/ToolServers.ts"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import { Sandbox } from "../../src/sandbox/Sandbox.ts"
import * as Tools from "../../src/Tools.ts"

const unused = Effect.die("nothing runs here")

export const toolsOf = (connecting: Connecting) =>
  Tools.layer({ environment: {}, secretNames: [], node: "/node", hiddenPaths: [] }).pipe(
    Layer.provide([
      Layer.succeed(CommandRunner, { run: () => unused }),
      Layer.succeed(Sandbox, { status: unused, confine: () => unused }),
      Layer.effect(ToolServers, ToolServers.make(connecting)),
      TrustedPrograms.layer({ environment: {} }),
    ]),
    Layer.provide([FileSystem.layerNoop({}), Path.layer]),
  )
