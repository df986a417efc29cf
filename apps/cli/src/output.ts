import type { Command } from 'commander'

/** Printed values of a record, by column. */
export type Shown = Readonly<Record<string, string | number | boolean | null | readonly string[]>>

/** Adds `--json` to a command. */
export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON')
}

/** Prints records as a table with a head, or as a JSON array. */
export function printList(rows: readonly Shown[], columns: readonly string[], json: boolean | undefined): void {
  if (json) return print(JSON.stringify(rows, null, 2))
  const table = [columns, ...rows.map((row) => columns.map((column) => cell(row[column])))]
  const widths = columns.map((_, i) => Math.max(...table.map((line) => (line[i] ?? '').length)))
  for (const line of table)
    print(
      line
        .map((text, i) => text.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}

/** Prints one record: as JSON, or as the one line that scripts read. */
export function printOne(record: Shown, line: string, json: boolean | undefined): void {
  print(json ? JSON.stringify(record, null, 2) : line)
}

/**
 * Runs `work` on the items one after the other. A line is printed after each item. With `json`, all results are printed
 * as one array at the end, or those before a failure.
 *
 * @param lineOf the line for a result, which scripts read
 */
export async function printEach<Item, Done extends Shown>(
  items: readonly Item[],
  work: (item: Item) => Promise<Done>,
  lineOf: (done: Done) => string,
  json: boolean | undefined,
): Promise<void> {
  const all: Done[] = []
  try {
    for (const item of items) {
      const done = await work(item)
      all.push(done)
      if (!json) print(lineOf(done))
    }
  } finally {
    if (json) print(JSON.stringify(all, null, 2))
  }
}

/** A progress line that is overwritten; nothing is written without a terminal. */
export function progressLine(): { show(percent: number | null, message: string): void; end(): void } {
  const { stderr } = process
  let shown = false
  return {
    show(percent, message) {
      if (!stderr.isTTY) return
      const filled = Math.round((percent ?? 0) / 5)
      const bar =
        percent === null ? '' : `[${'='.repeat(filled)}${' '.repeat(20 - filled)}] ${percent.toFixed(0).padStart(3)} % `
      stderr.write(`\r\u001b[K${`${bar}${message}`.slice(0, (stderr.columns || 80) - 1)}`)
      shown = true
    },
    end() {
      if (shown) stderr.write('\r\u001b[K')
    },
  }
}

/** Prints a message to standard error, separate from output for scripts. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Prints a line of output for scripts. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function cell(value: Shown[string] | undefined): string {
  if (value === null || value === undefined || value === '') return '-'
  return Array.isArray(value) ? value.join(',') : String(value)
}

/** A count with its noun: `1 row`, `2 rows`. */
export function countOf(count: unknown, what: string): string {
  return `${String(count)} ${what}${count === 1 ? '' : 's'}`
}
