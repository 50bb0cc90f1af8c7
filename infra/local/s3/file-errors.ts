/** What a file system's refusals mean to one who asks for objects: only absence is absence. */
import { S3Refusal } from './backend.ts';

/** No such file can be: ENOTDIR where a file stands in the path, ENAMETOOLONG where the name could never have been written. */
const ABSENT = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'];
const DENIED = ['EACCES', 'EPERM', 'EROFS'];
/** A key that is also the folder of another, or that no name can hold. */
const UNFIT = ['EISDIR', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY', 'ENAMETOOLONG'];

/** Waiting makes no room. */
const FULL = ['ENOSPC', 'EDQUOT'];

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

export function isAbsence(error: unknown): boolean {
  return ABSENT.includes(codeOf(error));
}

export function refusalOf(error: unknown): S3Refusal {
  if (error instanceof S3Refusal) return error;
  const message = error instanceof Error ? error.message : String(error);
  return DENIED.includes(codeOf(error))
    ? new S3Refusal(403, 'AccessDenied', message)
    : new S3Refusal(500, 'InternalError', message);
}

/** A refused write: where the name itself is the reason, trying again is useless. */
export function writeRefusalOf(error: unknown): S3Refusal {
  if (FULL.includes(codeOf(error))) {
    return new S3Refusal(400, 'NoSpaceLeft', `The disk is full: ${(error as Error).message}`);
  }
  if (error instanceof S3Refusal || !UNFIT.includes(codeOf(error))) return refusalOf(error);
  return new S3Refusal(
    400,
    'InvalidArgument',
    `A directory of files cannot hold that key: ${(error as Error).message}`,
  );
}
