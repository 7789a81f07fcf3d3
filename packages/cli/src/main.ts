/**
 * The entry: reads the command line and loads the one command it names. Everything heavy lies behind a dynamic
 * import, so that a command pays only for itself.
 *
 * Exit codes: 0 done, 1 the command failed, 2 the command line is wrong. Only help and version print on stdout here.
 */
import * as Result from "effect/Result"
import * as Args from "./args/Args.ts"

/**
 * Loads what a client waits for. Effect looks at a stack as it loads, and V8 counts the lines of the whole bundle to tell
 * one; with no stacks to look at it takes its other way, which costs nothing.
 */
const withoutStacks = async <A>(load: () => Promise<A>): Promise<A> => {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return await load()
  } finally {
    Error.stackTraceLimit = limit
  }
}

/**
 * Of a command that prints: its reader may leave when it has what it wanted (`| head`), which is no fault; what else
 * keeps the text from its reader is told.
 */
const printing = () => {
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(0)
    process.stderr.write(`colloquy: stdout cannot be written (${code ?? message})\n`)
    process.exit(1)
  })
}

const prints: ReadonlySet<Args.Invocation["_tag"]> = new Set([
  "Help",
  "Version",
  "Config",
  "Generate",
  "Doctor",
])

const run = async (invocation: Args.Invocation): Promise<number> => {
  switch (invocation._tag) {
    case "Help": {
      const { help } = await import("./commands/Help.ts")
      process.stdout.write(help)
      return 0
    }
    case "Version": {
      const command = await import("./commands/VersionCommand.ts")
      return command.run(invocation)
    }
    case "Mcp": {
      const mcp = await withoutStacks(() => import("./commands/Mcp.ts"))
      return mcp.run(invocation)
    }
    case "AppServer": {
      const appServer = await withoutStacks(() => import("./commands/AppServerCommand.ts"))
      return appServer.run(invocation)
    }
    case "Demo": {
      const demo = await import("./commands/DemoCommand.ts")
      return demo.run(invocation)
    }
    case "Config": {
      const config = await import("./commands/ConfigCommand.ts")
      return config.run(invocation)
    }
    case "Generate": {
      const generate = await import("./commands/GenerateCommand.ts")
      return generate.run(invocation.format, invocation)
    }
    case "Doctor": {
      const doctor = await import("./commands/Doctor.ts")
      return doctor.run()
    }
  }
}

const invocation = Args.parse(process.argv.slice(2))
if (Result.isFailure(invocation)) {
  process.stderr.write(
    `colloquy: ${invocation.failure.message}; \`colloquy --help\` shows what there is\n`,
  )
  process.exitCode = 2
} else {
  if (prints.has(invocation.success._tag)) printing()
  process.exitCode = await run(invocation.success)
}
