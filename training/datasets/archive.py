"""Reads images out of an uploaded zip; nothing is unpacked to disk, nothing followed.

What is wrong with the whole archive is raised; what is wrong with one file in it is
remembered, and told to whoever asks for the file.
"""

import stat
import struct
import zipfile
import zlib
from collections import defaultdict
from pathlib import Path, PurePosixPath

from training.datasets.types import (
    MIB,
    Limits,
    Mistake,
    PictureInvalid,
    UploadInvalid,
    shown,
)

END_RECORD = b"PK\x05\x06"
END_RECORD_SEARCH_BYTES = 22 + 65_535
END64_LOCATOR = b"PK\x06\x07"
DIRECTORY_BYTES_PER_MEMBER = 512
"""Generous for a name and its extra fields; 46 and the name is the usual."""
CLUTTER = ("__MACOSX/",)
ENCRYPTED = 0x1
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""zipfile unpacks the others without a bound, whatever size was asked for."""


class ImageArchive:
    """The files of a zip, by their path within it."""

    def __init__(self, path: Path, *, limits: Limits) -> None:
        """Open a zip and look at its directory only.

        Raises:
            UploadInvalid: If it is no zip, or its files are too many or too large.
        """
        self.name = path.name
        self._limits = limits
        _check_directory_size(path, limits)
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise UploadInvalid(f"{path.name} is not a zip archive: {error}") from error
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._problems: dict[str, str] = {}
        self._by_basename: dict[str, list[str]] = defaultdict(list)
        try:
            self._check_totals()
        except UploadInvalid:
            self._zip.close()
            raise
        self._index()

    def close(self) -> None:
        """Close the file; it is only ever read."""
        self._zip.close()

    @property
    def mistakes(self) -> list[Mistake]:
        """Return what is wrong with single files, whether a row wants them or not."""
        return [
            Mistake(file=self.name, line=0, field=name, reason=reason)
            for name, reason in self._problems.items()
        ]

    def find(self, path: str) -> str:
        """Return the name of the file that a record means by a path.

        The whole path wins; otherwise one of the two may have folders before it that
        the other lacks (rows made beside ``images/``, zipped with or without it).

        Raises:
            PictureInvalid: If the path is unsafe, or leads nowhere or to several files.
        """
        name = safe_name(path)
        if name in self._members or name in self._problems:
            return name
        alike = [
            member
            for member in self._by_basename.get(name.rsplit("/", 1)[-1], [])
            if f"/{member}".endswith(f"/{name}") or f"/{name}".endswith(f"/{member}")
        ]
        if not alike:
            raise PictureInvalid(f"{shown(path)} is not in {self.name}")
        if len(alike) > 1:
            raise PictureInvalid(
                f"{shown(path)} may be any of {len(alike)} files in {self.name}: "
                f"{shown(alike[0])}, {shown(alike[1])}…; give the whole path"
            )
        return alike[0]

    def read(self, name: str) -> bytes:
        """Return the bytes of a file that ``find`` named.

        Raises:
            PictureInvalid: If the file was refused, or is damaged.
        """
        if name in self._problems:
            raise PictureInvalid(self._problems[name])
        try:
            with self._zip.open(self._members[name]) as member:
                # One byte more than allowed shows that the directory lied.
                data = member.read(self._limits.max_image_bytes + 1)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            NotImplementedError,
            RuntimeError,
        ) as error:
            raise PictureInvalid(f"the zip is damaged here: {error}") from error
        return data

    def _check_totals(self) -> None:
        members = self._zip.infolist()
        if len(members) > self._limits.max_members:
            raise UploadInvalid(
                f"{self.name} holds {len(members):,} files, more than the "
                f"{self._limits.max_members:,} allowed"
            )
        total = sum(member.file_size for member in members)
        if total > self._limits.max_unpacked_bytes:
            raise UploadInvalid(
                f"{self.name} unpacks to {total:,} bytes, more than the "
                f"{self._limits.max_unpacked_bytes:,} allowed"
            )

    def _index(self) -> None:
        for member in self._zip.infolist():
            if member.is_dir() or member.filename.startswith(CLUTTER):
                continue
            try:
                name = safe_name(member.filename)
                self._check_member(member)
            except PictureInvalid as error:
                self._refuse(member.filename.replace("\\", "/"), str(error))
                continue
            if name in self._members or name in self._problems:
                self._refuse(name, "the name is in the zip twice; expected it once")
                continue
            self._members[name] = member
            self._by_basename[name.rsplit("/", 1)[-1]].append(name)

    def _refuse(self, name: str, reason: str) -> None:
        self._members.pop(name, None)
        if name not in self._problems:
            self._problems[name] = reason
            known = self._by_basename[name.rsplit("/", 1)[-1]]
            if name not in known:
                known.append(name)

    def _check_member(self, member: zipfile.ZipInfo) -> None:
        size, packed = member.file_size, member.compress_size
        if stat.S_ISLNK(member.external_attr >> 16):
            raise PictureInvalid("a symbolic link; links are not followed")
        if member.flag_bits & ENCRYPTED:
            raise PictureInvalid("encrypted; expected a zip without a password")
        if member.compress_type not in METHODS:
            raise PictureInvalid(
                f"packed by method {member.compress_type}; expected a file that is "
                "stored or deflated, as zips usually are"
            )
        if size > MIB and size > packed * self._limits.max_ratio:
            raise PictureInvalid(
                f"unpacks from {packed:,} to {size:,} bytes, more than "
                f"{self._limits.max_ratio} times its size: a zip bomb"
            )
        if size > self._limits.max_image_bytes:
            raise PictureInvalid(
                f"{size:,} bytes, more than the "
                f"{self._limits.max_image_bytes:,} of one image"
            )


def safe_name(path: str) -> str:
    """Return a path within the archive in one spelling.

    Raises:
        PictureInvalid: If it is absolute, leaves the archive or is an address.
    """
    if "://" in path:
        raise PictureInvalid(
            f"{shown(path)} is an address; nothing is fetched, "
            "expected a path within the zip"
        )
    name = path.replace("\\", "/")
    if name.startswith("/") or name[1:2] == ":":
        raise PictureInvalid(
            f"{shown(path)} is an absolute path; expected one within the zip"
        )
    parts = PurePosixPath(name).parts
    if ".." in parts:
        raise PictureInvalid(
            f"{shown(path)} leaves its folder by ..; expected a path within the zip"
        )
    if not parts or "\0" in name:
        raise PictureInvalid(f"expected a path within the zip, found {shown(path)}")
    return "/".join(parts)


def _check_directory_size(path: Path, limits: Limits) -> None:
    """Refuse a directory that would fill the memory when zipfile reads all of it."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - END_RECORD_SEARCH_BYTES - 20))
        tail = file.read()
        at = tail.rfind(END_RECORD)
        if at < 0 or len(tail) < at + 22:
            raise UploadInvalid(f"{path.name} is not a zip archive, or is cut off")
        size = struct.unpack_from("<L", tail, at + 12)[0]
        if at >= 20 and tail[at - 20 : at - 16] == END64_LOCATOR:
            file.seek(struct.unpack_from("<Q", tail, at - 12)[0])
            record = file.read(56)
            if len(record) == 56:
                size = struct.unpack_from("<Q", record, 40)[0]
    if size > limits.max_members * DIRECTORY_BYTES_PER_MEMBER:
        raise UploadInvalid(
            f"{path.name} has a directory of {size:,} bytes; expected at most "
            f"{limits.max_members:,} files"
        )
