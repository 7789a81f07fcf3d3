/** A PostgreSQL server for tests, in a temporary directory, run by a user other than root. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const debian = "/usr/lib/postgresql"

/** Folder of the newest server that is installed; undefined when there is none. */
const findBinaries = (): string | undefined => {
  const versions = existsSync(debian) ? readdirSync(debian).toSorted() : []
  return versions
    .toReversed()
    .map((version) => join(debian, version, "bin"))
    .find((folder) => existsSync(join(folder, "initdb")))
}

const binaries = findBinaries()

const isRoot = process.getuid?.() === 0

const hasUser = (): boolean => {
  try {
    execFileSync("id", ["postgres"], { stdio: "ignore" })
    return existsSync("/usr/sbin/runuser")
  } catch {
    return false
  }
}

/** Why the tests with PostgreSQL cannot run; undefined when they can. */
export const missingPostgres: string | undefined =
  binaries === undefined
    ? "PostgreSQL is not installed"
    : isRoot && !hasUser()
      ? "there is no user postgres"
      : undefined

/** A command as the user of the server. */
const asUser = (command: string, args: ReadonlyArray<string>): readonly [string, Array<string>] => {
  const path = join(binaries ?? "", command)
  return isRoot ? ["runuser", ["-u", "postgres", "--", path, ...args]] : [path, [...args]]
}

/** One server. */
export class Postgres {
  readonly folder = mkdtempSync(join(tmpdir(), "colloquy-pg-"))
  readonly data = join(this.folder, "data")
  private server: ChildProcess | undefined
  private readonly settings: ReadonlyArray<string>

  /** @param settings of the server, as `name=value` */
  constructor(settings: ReadonlyArray<string> = []) {
    this.settings = settings
    chmodSync(this.folder, 0o777)
    const options = "-U postgres -A trust -E UTF8 --locale=C --no-sync".split(" ")
    this.run("initdb", ["-D", this.data, ...options])
  }

  /** Starts the server and waits until it answers. */
  start(): void {
    const options = ["fsync=off", "listen_addresses=", ...this.settings].flatMap((one) => [
      "-c",
      one,
    ])
    const [command, args] = asUser("postgres", ["-D", this.data, "-k", this.folder, ...options])
    this.server = spawn(command, args, { stdio: "ignore" })
    this.run("pg_isready", ["-h", this.folder, "-t", "1"], 100)
  }

  /** Ends the server: `immediate` without finishing anything, as a crash would. */
  stop(how: "fast" | "immediate" = "fast"): void {
    if (this.server === undefined) return
    this.server = undefined
    this.run("pg_ctl", ["-D", this.data, "-m", how, "-w", "stop"])
  }

  /** Ends every process of the server at once. */
  kill(): void {
    const pid = Number(readFileSync(join(this.data, "postmaster.pid"), "utf8").split("\n")[0])
    process.kill(pid, "SIGKILL")
  }

  /** Copies the directory of the stopped server to another folder, or back. */
  copy(from: string, to: string): void {
    const [command, args] = isRoot
      ? ["runuser", ["-u", "postgres", "--", "cp", "-a", from, to]]
      : ["cp", ["-a", from, to]]
    rmSync(to, { recursive: true, force: true })
    execFileSync(command, args)
  }

  remove(): void {
    this.stop("immediate")
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Runs statements and returns their rows, columns separated by `|`. */
  sql(statements: string | ReadonlyArray<string>, database = "postgres"): string {
    const options = `-h ${this.folder} -U postgres -d ${database} -XAtq -v ON_ERROR_STOP=1`
    return this.run("psql", [
      ...options.split(" "),
      ...[statements].flat().flatMap((statement) => ["-c", statement]),
    ]).trim()
  }

  /** Creates an empty database and returns its address. */
  database(name: string): string {
    this.sql(`CREATE DATABASE ${name}`)
    return this.address(name)
  }

  address(name: string): string {
    return `postgres://postgres@localhost/${name}?host=${encodeURIComponent(this.folder)}`
  }

  /** Path of the socket. */
  get socket(): string {
    return join(this.folder, ".s.PGSQL.5432")
  }

  private run(command: string, args: ReadonlyArray<string>, attempts = 1): string {
    const [program, all] = asUser(command, args)
    for (let attempt = 1; ; attempt++) {
      try {
        return execFileSync(program, all, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
      } catch (error) {
        if (attempt >= attempts) throw error
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
      }
    }
  }
}
