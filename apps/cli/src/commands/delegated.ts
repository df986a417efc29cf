import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { localEnvironment, ownEnvironment } from '../connection.ts'

/** Groups of commands that belong to an app and are its own program. */
const GROUPS = [
  ['functions', 'functions', 'Create, serve, deploy and watch functions.'],
  ['models', 'worker', 'List, check, add, pin and fetch embedding models.'],
  ['user', 'console', 'Create and change console users.'],
  ['member', 'console', 'Manage members of organizations.'],
] as const

/** `terrane functions|models|user|member …`, passed on to the app's program unchanged. */
export function delegatedCommands(program: Command): void {
  for (const [group, app, description] of GROUPS) {
    program
      .command(`${group} [args...]`)
      .description(description)
      .helpOption(false)
      .allowUnknownOption()
      .passThroughOptions()
      .action((args: string[]) => run(app, [group, ...args]))
  }
}

async function run(app: string, args: readonly string[]): Promise<void> {
  const path = fileURLToPath(new URL(`../../../${app}/src/cli.ts`, import.meta.url))
  const found = app === 'functions' ? await localEnvironment(args) : {}
  return runProgram(path, args, { ...ownEnvironment(), ...found })
}

/** Runs a program instead of this one; its exit code becomes this one's. */
export async function runProgram(path: string, args: readonly string[], env = ownEnvironment()): Promise<void> {
  const child = spawn(process.execPath, [path, ...args], { stdio: 'inherit', env })
  // Ctrl-C also reaches the child, so this process waits for it; SIGTERM and SIGHUP sent to this process alone are passed on.
  const passOn = (signal: NodeJS.Signals) => child.kill(signal)
  process.on('SIGINT', wait)
  for (const signal of PASSED_ON) process.on(signal, passOn)
  const [code] = (await once(child, 'exit')) as [number | null]
  process.off('SIGINT', wait)
  for (const signal of PASSED_ON) process.off(signal, passOn)
  process.exitCode = code ?? 1
}

const PASSED_ON = ['SIGTERM', 'SIGHUP'] as const

function wait(): void {}
