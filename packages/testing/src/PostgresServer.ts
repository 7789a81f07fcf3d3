/**
 * A PostgreSQL server for tests and measurements: a new one in a temporary directory, reached over a socket there, and run by
 * the user `postgres` where the program is run by root. Each method blocks the process until it is done.
 */
import { execFileSync, type StdioOptions } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const debian = "/usr/lib/postgresql"

/** Folder of the programs of the newest server that is installed; undefined when there is none. */
const findPrograms = (): string | undefined => {
  const versions = existsSync(debian) ? readdirSync(debian) : []
  return versions
    .toSorted((one, other) => Number(other) - Number(one))
    .map((version) => join(debian, version, "bin"))
    .find((folder) => existsSync(join(folder, "initdb")))
}

const isRoot = (): boolean => process.getuid?.() === 0

const hasUser = (): boolean => {
  try {
    execFileSync("runuser", ["-u", "postgres", "--", "true"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** Why there can be no server on this machine; undefined when there can be one. */
export const missingPostgres = (): string | undefined => {
  if (findPrograms() === undefined) return "PostgreSQL is not installed"
  return isRoot() && !hasUser() ? "there is no user postgres" : undefined
}

/** Rows of a whole log are read at once. */
const maxOutputBytes = 1024 * 1024 * 1024

/** Runs a program as the user of the server, and returns what it prints. */
const runAsUser = (program: string, args: ReadonlyArray<string>): string => {
  const [first, all] = isRoot()
    ? ["runuser", ["-u", "postgres", "--", program, ...args]]
    : [program, args]
  const stdio: StdioOptions = ["ignore", "pipe", "pipe"]
  return execFileSync(first, all, { encoding: "utf8", stdio, maxBuffer: maxOutputBytes })
}

/** One server. */
export class PostgresServer {
  /** The directory of the socket and of everything else. */
  readonly folder = mkdtempSync(join(tmpdir(), "colloquy-pg-"))
  /** The directory of the data. */
  readonly data = join(this.folder, "data")
  private readonly programs = findPrograms() ?? ""
  private readonly settings: ReadonlyArray<string>
  private isRunning = false

  /**
   * Creates the data of a server, which is not started.
   *
   * @param settings of the server, each as `name=value`
   */
  constructor(settings: ReadonlyArray<string> = []) {
    this.settings = settings
    chmodSync(this.folder, 0o777)
    const options = "-U postgres -A trust -E UTF8 --locale=C --no-sync".split(" ")
    this.run("initdb", ["-D", this.data, ...options])
  }

  /** Starts the server, and returns when it answers. */
  start(): void {
    const settings = ["listen_addresses=''", `unix_socket_directories='${this.folder}'`].concat(
      this.settings,
    )
    const options = settings.map((setting) => `-c ${setting}`).join(" ")
    const log = join(this.folder, "log")
    this.run("pg_ctl", ["-D", this.data, "-l", log, "-o", options, "-w", "start"])
    this.isRunning = true
  }

  /** Ends the server: `immediate` without finishing anything, as a crash would. Does nothing for one that has ended. */
  stop(how: "fast" | "immediate" = "fast"): void {
    if (!this.isRunning) return
    this.isRunning = false
    this.run("pg_ctl", ["-D", this.data, "-m", how, "-w", "stop"])
  }

  /** Ends the server and removes its directory. */
  remove(): void {
    this.stop("immediate")
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Replaces one directory by a copy of another one, as a backup is taken and restored. */
  copy(from: string, to: string): void {
    rmSync(to, { recursive: true, force: true })
    runAsUser("cp", ["-a", from, to])
  }

  /** Runs statements one after another, and returns their rows as lines, the columns separated by `|`. */
  sql(statements: string | ReadonlyArray<string>, database = "postgres"): string {
    const options = `-h ${this.folder} -U postgres -d ${database} -XAtq -v ON_ERROR_STOP=1`
    const each = [statements].flat().flatMap((statement) => ["-c", statement])
    return this.run("psql", [...options.split(" "), ...each]).trim()
  }

  /** Creates an empty database and returns its address. */
  database(name: string): string {
    this.sql(`CREATE DATABASE ${name}`)
    return `postgres://postgres@localhost/${name}?host=${encodeURIComponent(this.folder)}`
  }

  /** Path of the socket. */
  get socket(): string {
    return join(this.folder, ".s.PGSQL.5432")
  }

  private run(program: string, args: ReadonlyArray<string>): string {
    return runAsUser(join(this.programs, program), args)
  }
}
