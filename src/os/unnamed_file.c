// SPDX-License-Identifier: Apache-2.0
// Files without a name, and their way to another process.

#include "os/unnamed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

int os_open_unnamed(Str folder, Error *err)
{
    char name[PATH_MAX];
    int fd = -1;
    if (folder.len > 0 && folder.len < sizeof(name) && !memchr(folder.ptr, 0, folder.len)) {
        memcpy(name, folder.ptr, folder.len);
        name[folder.len] = 0;
        // With O_EXCL it cannot get a name later.
        fd = open(name, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    }
    if (fd < 0)
        fd = memfd_create("assay", MFD_CLOEXEC);
    if (fd < 0)
        (void)error_os(err, "cannot make a file without a name");
    return fd;
}

// The control part of a message that holds one descriptor.
typedef union Control {
    struct cmsghdr header; // for its alignment
    char bytes[CMSG_SPACE(sizeof(int))];
} Control;

int os_open_memory(Error *err)
{
    int fd = memfd_create("assay", MFD_CLOEXEC);
    if (fd < 0)
        error_os(err, "cannot make a file in memory");
    return fd;
}

bool os_send_turn(int socket, int fd)
{
    char byte = 1;
    Control control = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(fd));
        memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    ssize_t n;
    do
        n = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

bool os_receive_turn(int socket, int *fd)
{
    char byte;
    Control control = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    ssize_t n;
    *fd = -1;
    do
        n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n != 1) {
        errno = n == 0 ? 0 : errno;
        return false;
    }
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof(*fd)))
        memcpy(fd, CMSG_DATA(header), sizeof(*fd));
    return true;
}
