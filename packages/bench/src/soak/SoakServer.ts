/** A server of a benchmark: the built program on a port, which is killed and started again. */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"

/** A server on a port of its own; every process of it has the same port. */
export class SoakServer {
  private port = 0
  private child: ChildProcess | undefined
  private readonly entry: string
  private readonly environment: Readonly<Record<string, string>>
  private readonly args: ReadonlyArray<string>

  /**
   * @param environment selects the state directory that the servers share
   * @param args more arguments of `serve`
   */
  constructor(
    entry: string,
    environment: Readonly<Record<string, string>>,
    args: ReadonlyArray<string> = [],
  ) {
    this.entry = entry
    this.environment = environment
    this.args = args
  }

  /** Id of the process; undefined before the first one. */
  get pid(): number | undefined {
    return this.child?.pid
  }

  /** Address without a slash at its end. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Starts a process and resolves when it listens. */
  start(): Promise<void> {
    const listen = `http://127.0.0.1:${this.port}`
    const args = [this.entry, "serve", "--listen", listen, ...this.args]
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...this.environment },
      stdio: ["ignore", "pipe", "inherit"],
    })
    this.child = child
    return new Promise((resolve, reject) => {
      let text = ""
      child.once("close", () => reject(new Error(`a server has ended: ${text}`)))
      child.stdout.setEncoding("utf8").on("data", (part: string) => {
        text += part
        const port = /^Listening on http:\/\/127\.0\.0\.1:(\d+)$/m.exec(text)?.[1]
        if (port === undefined) return
        this.port = Number(port)
        resolve()
      })
    })
  }

  /** Kills the process in whatever it is doing, and resolves when it is gone. */
  kill(): Promise<void> {
    return this.signal("SIGKILL")
  }

  /** Tells the process to end, and resolves when it is gone. */
  end(): Promise<void> {
    return this.signal("SIGTERM")
  }

  /** Processor time of the process so far; 0 on systems without `/proc`. */
  cpuMs(): number {
    try {
      const stat = readFileSync(`/proc/${this.child?.pid ?? 0}/stat`, "utf8")
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      // In hundredths of a second, on every Linux that Node runs on.
      return (Number(fields[11]) + Number(fields[12])) * 10
    } catch {
      return 0
    }
  }

  /** Resident bytes of the process; 0 on systems without `/proc`. */
  residentBytes(): number {
    try {
      const status = readFileSync(`/proc/${this.child?.pid ?? 0}/status`, "utf8")
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
    } catch {
      return 0
    }
  }

  private signal(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const { child } = this
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      child.once("close", () => resolve())
      child.kill(signal)
    })
  }
}
