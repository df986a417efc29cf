import { ownEnvironment } from '../connection.ts'
import type { Check, Finding } from '../doctor/finding.ts'
import { print } from '../output.ts'
import type { AddCommands } from '../program.ts'
import { onProject } from '../run-task.ts'

interface Options {
  readonly profile?: string
  readonly json?: boolean
}

/** `terrane doctor`: checks the requirements of commands and of the local stack, and names remedies. */
export function doctorCommand(checks: () => Promise<readonly Check[]>): AddCommands {
  return (program) =>
    void onProject(
      program.command('doctor').description('Check the machine, the project and its services, and suggest fixes.'),
    )
      .addHelpText('after', '\nExit code 1 when something is wrong.')
      .action((options: Options) => doctor(checks, options))
}

async function doctor(checks: () => Promise<readonly Check[]>, { profile, json }: Options): Promise<void> {
  const context = { env: ownEnvironment(), profile }
  const findings: Finding[] = []
  for (const check of await checks()) findings.push(...(await check(context)))
  if (json) print(JSON.stringify(findings, null, 2))
  else for (const finding of findings) print(said(finding))
  if (findings.some(({ state }) => state === 'wrong')) process.exitCode = 1
}

function said({ state, check, message, remedy }: Finding): string {
  const mark = { fine: 'ok   ', unknown: '?    ', wrong: 'WRONG' }[state]
  return `${mark}  ${check}: ${message}${remedy === undefined ? '' : `\n       → ${remedy}`}`
}
