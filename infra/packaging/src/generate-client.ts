import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shareProperties } from './share-properties.ts'
import { shareSchemas } from './share-schemas.ts'

// Generates the types of @terrane/client from the worker's OpenAPI document.
//
// `node infra/packaging/src/generate-client.ts [file]`
const root = join(import.meta.dirname, '../../..')
const tool = join(root, 'infra/peers/packing/node_modules/.bin/openapi-typescript')
const file = process.argv[2] ?? join(root, 'packages/client/openapi/worker-api.ts')
const document = JSON.parse(readFileSync(join(root, 'packages/client/openapi/worker.json'), 'utf8'))
const input = JSON.stringify(shareProperties(shareSchemas(document)), (_, part: unknown) => withoutExample(part))
const types = execFileSync(tool, ['--default-non-nullable=false'], { input, encoding: 'utf8', maxBuffer: 2 ** 26 })
// Members that are always absent: methods, parameters and bodies that an operation does not have.
const ABSENT = /^ +(?:query|header|path|cookie|requestBody|get|put|post|delete|options|head|patch|trace)\?: never;\n/gm
writeFileSync(file, types.replaceAll(ABSENT, '').replaceAll(/\{\n +\}/g, '{}'))

/** Examples of whole objects stay in the document only, because the comment of a type would repeat its members. */
function withoutExample(part: unknown): unknown {
  if (typeof part !== 'object' || part === null || typeof (part as { example?: unknown }).example !== 'object')
    return part
  return { ...part, example: undefined }
}
